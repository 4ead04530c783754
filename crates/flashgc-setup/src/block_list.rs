//! Lists of blocks of the device, each with a program or a page of it and its erases before.

use flashgc_config::Reader;
use flashgc_config::units::counted;

/// The form of a list of blocks: the keys of its items.
pub struct BlockList {
    /// The key of the list.
    pub key: &'static str,
    /// The key of the part of a block.
    pub part: &'static str,
    /// Whether every block is named with a part.
    pub needs_part: bool,
    /// The form of an item, with an example.
    pub help: &'static str,
}

/// An item of a list.
pub struct Listed {
    /// The block.
    pub block: u32,
    /// The program or page of it, where one is named.
    pub part: Option<u32>,
    /// Number of earlier erases of the block, where that is named.
    pub erases: Option<u32>,
}

/// `device.failures.at`: the programs and erases that fail.
pub const FAILING: BlockList = BlockList {
    key: "at",
    part: "program",
    needs_part: false,
    help: "a block and its erases before, as in `at = [{ block = 5, erases = 2 }]`",
};

/// `device.read_retry.uncorrectable`: the pages whose data is not corrected.
pub const UNCORRECTABLE: BlockList = BlockList {
    key: "uncorrectable",
    part: "page",
    needs_part: true,
    help: "a page of a block, as in `uncorrectable = [{ block = 5, page = 2 }]`",
};

impl BlockList {
    /// The items, none where the key is not given. Errors are noted; `None` where there are some.
    pub fn read(&self, table: &Reader<'_>) -> Option<Vec<Listed>> {
        if !table.has(self.key) {
            return Some(Vec::new());
        }
        let items: Vec<_> = table.tables(self.key)?.iter().map(|item| self.item(item)).collect();
        items.into_iter().collect()
    }

    fn item(&self, item: &Reader<'_>) -> Option<Listed> {
        let number = |key| item.u32(key, 0..=u32::MAX);
        let given = |key| if item.has(key) { number(key).map(Some) } else { Some(None) };
        let block = item.required("block", number("block"), self.help);
        let part = if self.needs_part {
            item.required(self.part, number(self.part), self.help).map(Some)
        } else {
            given(self.part)
        };
        let erases = given("erases");
        item.finish();
        Some(Listed { block: block?, part: part?, erases: erases? })
    }

    /// Notes an error for the first of these blocks and parts that is beyond a device with this
    /// number of blocks, and of parts in each.
    pub fn check(
        &self,
        table: &Reader<'_>,
        mut listed: impl Iterator<Item = (u32, Option<u32>)>,
        (blocks, parts): (u32, u32),
    ) -> Option<()> {
        let is_missing = |&(block, part): &(u32, Option<u32>)| {
            block >= blocks || part.is_some_and(|part| part >= parts)
        };
        let Some((block, part)) = listed.find(is_missing) else { return Some(()) };
        let name = self.part;
        let of_it = part.map_or(String::new(), |part| format!(", {name} {part}"));
        let message = format!(
            "{} names block {block}{of_it}, but the device has {} of {}",
            self.key,
            counted(blocks, "block"),
            counted(parts, name)
        );
        table.error(self.key, message, "numbers begin at 0");
        None
    }
}
