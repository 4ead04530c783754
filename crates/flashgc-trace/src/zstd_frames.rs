//! zstd, which is written in C: a build without the feature `zstd` has none of it, and says so.

pub(crate) use own::{Packer, Unpacker, decoder};

#[cfg(feature = "zstd")]
mod own {
    use std::io::{self, Read};
    use zstd::bulk::{Compressor, Decompressor};

    /// More takes long and wins little.
    const LEVEL: i32 = 3;

    /// The plain bytes of a zstd stream.
    pub(crate) fn decoder(packed: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(zstd::stream::read::Decoder::new(packed)?))
    }

    /// Packs one frame after the other.
    pub(crate) struct Packer(Compressor<'static>);

    impl Packer {
        pub(crate) fn new() -> io::Result<Packer> {
            let mut zstd = Compressor::new(LEVEL)?;
            zstd.include_checksum(true)?;
            Ok(Packer(zstd))
        }

        pub(crate) fn pack(&mut self, plain: &[u8]) -> io::Result<Vec<u8>> {
            self.0.compress(plain)
        }
    }

    /// Unpacks one frame after the other.
    pub(crate) struct Unpacker(Decompressor<'static>);

    impl Unpacker {
        pub(crate) fn new() -> io::Result<Unpacker> {
            Ok(Unpacker(Decompressor::new()?))
        }

        /// Returns the number of plain bytes.
        pub(crate) fn unpack(&mut self, packed: &[u8], plain: &mut [u8]) -> io::Result<usize> {
            self.0.decompress_to_buffer(packed, plain)
        }
    }
}

#[cfg(not(feature = "zstd"))]
mod own {
    use std::io::{self, Read};

    /// What would have packed or unpacked.
    pub(crate) enum Never {}
    pub(crate) type Packer = Never;
    pub(crate) type Unpacker = Never;

    fn missing() -> io::Error {
        io::Error::other(
            "this build of flashgc has no zstd; decompress the file with `unzstd`, or convert a \
             trace in the format fgt with `flashgc trace convert FILE NEW --to blkreplay`",
        )
    }

    pub(crate) fn decoder(_: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
        Err(missing())
    }

    impl Never {
        pub(crate) fn new() -> io::Result<Never> {
            Err(missing())
        }

        pub(crate) fn pack(&mut self, _: &[u8]) -> io::Result<Vec<u8>> {
            match *self {}
        }

        pub(crate) fn unpack(&mut self, _: &[u8], _: &mut [u8]) -> io::Result<usize> {
            match *self {}
        }
    }
}
