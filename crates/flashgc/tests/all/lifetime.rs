//! Placements by lifetime on sequences of writes whose classes were derived by hand, from the pages
//! of docs/schemes.

use crate::placement::Table;

use flashgc::gc::placement::Placement;

fn writes(table: &mut Table, pages: &[u32]) -> Vec<u8> {
    pages.iter().map(|&page| table.write(page)).collect()
}

/// Three blocks with known hotness, which are the centres.
#[test]
fn classes_of_sfs_by_hand() {
    let mut table = Table::new("sfs");
    // New pages are the hottest.
    let first = [(0, 0), (1, 0), (2, 1), (3, 1)].map(|(page, block)| table.write_in(page, block));
    assert_eq!(first, [0; 4]);
    // Without centres all are at 0, and the coldest takes the page.
    assert_eq!(table.write_in(0, 2), 5);
    [0, 1, 2].into_iter().for_each(|block| table.seal(block, 0));
    // At 5, block 0 has page 1, written at 2: 1/3. Block 1 has pages 2 and 3, written at 3 and 4:
    // 2/3. Block 2 has page 0 with two writes, now: 2/1.
    table.policy.collected(facts(9), 5);
    // Page 1 has one write, 4 before this one: 1/4 is nearest to 1/3.
    assert_eq!(table.write_in(1, 3), 2);
    // Page 0 has two, 2 before this one: 1 is nearest to 2/3.
    assert_eq!(table.write_in(0, 3), 1);
    // Now at 7: page 2 has 1/4. The next write makes it 8: page 3 has 1/4.
    assert_eq!([table.copy(2, 0), table.write_in(3, 3)], [2, 2]);
    // Page 0 has three writes, the last one at 7: 3. Page 1 has two, at 6: 1.
    assert_eq!([table.copy(0, 0), table.copy(1, 0)], [0, 1]);
    // Far in the future all are nearest to 0, and the last class of those takes them.
    table.clock = 1000;
    assert_eq!(table.copy(0, 0), 5);
    // A page that was trimmed is new.
    table.trim(0);
    assert_eq!(table.write(0), 0);
}

fn facts(block: u32) -> flashgc::ftl::BlockFacts {
    let block = flashgc::ids::BlockId(block);
    flashgc::ftl::BlockFacts { block, class: Some(0), opened: 0, sealed: Some(0), valid: 0 }
}

/// Blocks have 32 pages.
#[test]
fn levels_of_multilog_by_hand() {
    let mut table = Table::new("multilog");
    let few: Vec<u8> = (0..31).map(|page| table.write(page)).collect();
    assert_eq!(few, [0; 31]);
    assert_eq!(table.copy(0, 0), 0, "31 pages are less than a block: there is no second level");
    assert_eq!([table.write(31), table.copy(0, 0), table.copy(1, 0)], [0, 1, 1]);
    assert_eq!(table.copy(0, 1), 1, "two pages are less than a block: there is no third level");
    // Half of two pages is one, and the page was last written 32 pages ago.
    assert_eq!(table.write(0), 1);
    let others: Vec<u8> = (2..32).map(|page| table.copy(page, 0)).collect();
    assert_eq!(others, [1; 30]);
    assert_eq!([table.copy(31, 1), table.copy(30, 1)], [2, 2]);
    // 30 pages are on level 1: half of them would be overwritten within 15 pages. At the second
    // write this is the next page, so that 14 of 15 climb, and less as the level gets smaller.
    let climbed = (0..10).filter(|&page| [table.write(page), table.write(page)] == [1, 0]).count();
    assert!((6..=10).contains(&climbed), "{climbed} of 10 pages have climbed");
    // Had a collected block one valid page of 32, the level would be overwritten at once.
    table.collect(1, 0);
    assert_eq!([table.write(20), table.write(20)], [1, 1]);
    table.trim(20);
    assert_eq!(table.write(20), 0);
}

/// Pages 10 and 11 are one run, page 100 another. A run counts when the next one begins.
#[test]
fn extents_of_eti_by_hand() {
    let mut table = Table::new("eti");
    for round in 1..=4 {
        assert_eq!(writes(&mut table, &[10, 11, 100]), [1, 1, 1], "{round}");
    }
    assert_eq!(writes(&mut table, &[10, 11, 100]), [0, 0, 0], "four runs have ended in each");
    assert_eq!(writes(&mut table, &[12, 9, 101, 99]), [1; 4], "their neighbours are cold");
    assert_eq!([table.copy(10, 0), table.copy(12, 1)], [2, 2]);
    // After 4096 runs counts are halved: at 15, then 7, then 3.
    for _ in 0..20 {
        writes(&mut table, &[10, 11, 100]);
    }
    for (page, class) in [(11, 0), (10, 1)] {
        for run in 0..4096 {
            table.write(1000 + run % 2 * 2);
        }
        assert_eq!(table.write(page), class, "{page}");
    }
}

/// Chunks have 512 pages of 4 KiB.
#[test]
fn chunks_of_autostream_by_hand() {
    let mut table = Table::new("autostream");
    // The natural logarithms of 1 and 2 are below 1, the logarithm of 3 is not. A page that follows
    // stays in the class, and is not counted.
    assert_eq!(writes(&mut table, &[0, 5, 9, 10]), [0, 0, 1, 1]);
    assert_eq!(table.write(600), 0, "another chunk");
    // Counts of 4 to 8; the logarithm of 8 is above 2.
    assert_eq!(writes(&mut table, &[1, 3, 5, 7, 9]), [1, 1, 1, 1, 2]);
    // A run enters the second chunk, which has two now, and is counted there.
    assert_eq!(writes(&mut table, &[511, 512]), [2, 2]);
    assert_eq!(table.write(700), 1, "three writes");
    assert_eq!([table.copy(0, 0), table.copy(600, 2)], [5, 5]);
    // The first chunk has 9. After 16,384 pages there are 4 left, and one more.
    for write in 0..16_384 {
        table.write(2000 + write % 2 * 2);
    }
    assert_eq!(table.write(1), 1);
}

/// Runs of one page make the average 1, and one of four pages raises it.
#[test]
fn counts_of_fadac_by_hand() {
    let mut table = Table::new("fadac");
    assert_eq!(writes(&mut table, &[0, 10]), [0, 0]);
    // Counts of 2 to 10 are at most ten times the average, 11 is above that.
    assert_eq!(writes(&mut table, &[0; 10]), [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    assert_eq!([table.copy(0, 2), table.copy(10, 0), table.copy(10, 0)], [1, 0, 0]);
    // One run of four pages, with six pages in all: the average is 1 + 3/6, and then comes nearer
    // to 1 by a sixth with each write: 1.42, 1.35, 1.29. The counts are 11 to 14.
    assert_eq!(writes(&mut table, &[20, 21, 22, 23]), [0; 4]);
    assert_eq!(writes(&mut table, &[0, 0, 0, 0]), [1, 1, 1, 2]);
    table.trim(0);
    assert_eq!(table.write(0), 0);
}

/// The centres of the clusters are at 0 first, and the last one takes the pages.
#[test]
fn clusters_of_warcip_by_hand() {
    let mut table = Table::new("warcip");
    // At 3, page 0 has an interval of 2: the centre is 2/3, of three pages.
    assert_eq!(writes(&mut table, &[0, 1, 0]), [5, 5, 5]);
    // A new page has 0, and so have the others. At 5, page 0 has 2 again: the centre is 1.
    assert_eq!(writes(&mut table, &[2, 0]), [4, 5]);
    // Page 1 is copied 3 after its write: 4 and 3 at the next one, and the centre is 1 + 6/5.
    assert_eq!([table.copy(1, 5), table.write(1)], [0, 5]);
    // An interval of 1 is nearer to 0 than to 2.2, and moves the other centre to 0.5.
    assert_eq!(table.write(1), 4);
    // With a new block the mean begins again: 3, so that 2 is nearer to it than to 0.5.
    table.seal(0, 5);
    assert_eq!(writes(&mut table, &[0, 3, 0]), [5, 3, 5]);
}
