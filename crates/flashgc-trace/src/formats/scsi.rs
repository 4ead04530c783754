//! Commands of SCSI.

use crate::record::Op;

/// The operation of the command with this code (SBC-4, and 6-byte forms of SBC-2).
pub(crate) fn op(code: u8) -> Op {
    match code {
        // READ (6), (10), (12), (16).
        0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
        // WRITE (6), (10), (12), (16); WRITE AND VERIFY (10), (12), (16).
        0x0a | 0x2a | 0xaa | 0x8a | 0x2e | 0xae | 0x8e => Op::Write,
        // UNMAP.
        0x42 => Op::Trim,
        _ => Op::Other,
    }
}
