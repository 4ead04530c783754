//! The requirements of sub-blocks and hotness groups on a row of the matrix.

use super::covering::{Factor, Row};
use super::factors::{BLOCK, BLOCKING, COPY, ERASE, MARKS, PLACEMENT, SUMMARY, TRIGGER, VICTIM};
use super::{pairs, values};

/// The first choices of *erase* free whole blocks; those after them free sub-blocks, isolated by
/// software and by hardware.
pub const WHOLE_BLOCKS: usize = 4;
const BY_SOFTWARE: usize = 4;
const BY_HARDWARE: usize = 5;

/// Sub-blocks are erased where a block has some and no summary, and by a victim that ranks them;
/// hotness groups are of sub-blocks, and their copies stay in the plane. A row with other
/// choices is run twice: with sub-blocks and their requirements, and with whole blocks.
pub fn apart_by_erase(factors: &[Factor], row: Row) -> Vec<Row> {
    let at = |name: &str| factors.iter().position(|(key, _)| *key == name).expect("a factor");
    let value = |name: &str, row: &Row| factors[at(name)].1[row[at(name)]];
    let by_hotness = value(PLACEMENT, &row).contains("hotness");
    if row[at(ERASE)] < WHOLE_BLOCKS && !by_hotness {
        return vec![row];
    }
    let (recycle_benefit, invalid_sub_blocks) = (6, 7);
    let mut fitting = row.clone();
    if row[at(ERASE)] < WHOLE_BLOCKS {
        let by_invalid = row[at(VICTIM)] == invalid_sub_blocks;
        fitting[at(ERASE)] = if by_invalid { BY_HARDWARE } else { BY_SOFTWARE };
    }
    if ![recycle_benefit, invalid_sub_blocks].contains(&row[at(VICTIM)]) {
        fitting[at(VICTIM)] = recycle_benefit;
    }
    if fitting[at(ERASE)] == BY_SOFTWARE {
        fitting[at(VICTIM)] = recycle_benefit;
    }
    if row[at(BLOCK)] == 0 {
        fitting[at(BLOCK)] = 1 + row[at(BLOCKING)] % 3;
    }
    fitting[at(SUMMARY)] = 0;
    // Used space and blocking of blocks apply to whole blocks.
    fitting[at(TRIGGER)] %= 2;
    fitting[at(BLOCKING)] %= 5;
    let copy = value(COPY, &row);
    let is_odd_even = copy.contains("parity=\"true\"")
        || (copy.contains("parallel") && !copy.contains("parity") && !copy.contains("global"));
    // A sub-block has odd and even pages.
    if is_odd_even && fitting[at(ERASE)] == BY_HARDWARE && fitting[at(BLOCK)] == 3 {
        fitting[at(BLOCK)] = 2;
    }
    if by_hotness && (is_odd_even || copy.contains("global")) {
        fitting[at(COPY)] = 0;
    }
    // The worst collection needs nearly two blocks, with an open sub-block of each class too, and
    // where layers take their part of a block.
    if row[at(MARKS)] == 0 && (by_hotness || fitting[at(ERASE)] == BY_HARDWARE) {
        fitting[at(BLOCK)] = 2;
    }
    if row[at(MARKS)] == 0 && fitting[at(ERASE)] == BY_HARDWARE {
        fitting[at(PLACEMENT)] = 0;
    }
    if fitting == row {
        return vec![row];
    }
    let mut whole = row;
    if whole[at(ERASE)] >= WHOLE_BLOCKS {
        whole[at(ERASE)] = 0;
    }
    if by_hotness {
        whole[at(PLACEMENT)] = 0;
    }
    vec![fitting, whole]
}

/// Sub-blocks and hotness groups each need a block that has some, no summary, and a victim that
/// ranks them.
pub fn refused_of_sub_blocks() -> Vec<[&'static str; 2]> {
    let (erase, by_hotness) = (values(ERASE), values(PLACEMENT)[2..].to_vec());
    let sub_blocks = [&erase[WHOLE_BLOCKS..], &by_hotness].concat();
    let away = values(COPY).iter().filter(|copy| copy.contains("global")).copied();
    let odd_even = [values(COPY)[1], values(COPY)[3]];
    [
        pairs(sub_blocks.clone(), [&values(VICTIM)[..6], &values(VICTIM)[8..]].concat()),
        pairs(sub_blocks.clone(), values(TRIGGER)[2..].to_vec()),
        pairs(sub_blocks.clone(), values(BLOCKING)[5..].to_vec()),
        pairs(sub_blocks.clone(), values(SUMMARY)[1..].to_vec()),
        pairs(sub_blocks, values(BLOCK)[..1].to_vec()),
        pairs(vec![erase[BY_SOFTWARE]], vec![values(VICTIM)[7]]),
        pairs(by_hotness.clone(), erase[..WHOLE_BLOCKS].to_vec()),
        pairs(by_hotness, away.chain(odd_even).collect()),
    ]
    .concat()
}
