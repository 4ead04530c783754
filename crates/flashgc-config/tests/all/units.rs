//! Quantities are exact.

use flashgc_config::units::{
    parse_bytes, parse_duration_ns, parse_rate, parse_share, parse_threshold,
};
use flashgc_config::{Share, ShareOf, Threshold, nearest};

#[test]
fn durations() {
    let cases = [
        ("50 us", 50_000),
        ("0 ns", 0),
        ("1.5 ms", 1_500_000),
        (".5 us", 500),
        ("2 s", 2_000_000_000),
        ("5 min", 300_000_000_000),
        ("2 h", 7_200_000_000_000),
        ("0.1 us", 100),
        ("1.0 ns", 1),
        ("0.001us", 1),
        ("3 \u{b5}s", 3_000),
        ("3\u{3bc}s", 3_000),
        ("  1_000   ns ", 1_000),
        ("18446744073709551615 ns", u64::MAX),
        ("18446744073.709551615 s", u64::MAX),
        ("0000000000000000000000000000000000000001 ns", 1),
    ];
    for (text, ns) in cases {
        assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
    }
    let wrong = [
        ("", "the number is missing"),
        ("us", "the number is missing"),
        ("5", "the unit is missing"),
        ("-5 us", "`-5` is negative"),
        ("0.5 ns", "it is not a whole number of nanoseconds"),
        ("0.0001 us", "it is not a whole number of nanoseconds"),
        ("50 uss", "unknown unit `uss`"),
        ("50 MS", "unknown unit `MS`, did you mean `ms`?"),
        ("1e3 us", "unknown unit `e3 us`"),
        ("1,5 us", "unknown unit `,5 us`"),
        (". us", "`.` is not a plain decimal number"),
        ("5. us", "`5.` is not a plain decimal number"),
        ("1.2.3 us", "`1.2.3` is not a plain decimal number"),
        ("1__0 us", "`1__0` is not a plain decimal number"),
        ("+5 us", "`+5` is not a plain decimal number"),
        ("18446744073709551616 ns", "the number is too large"),
        ("999999999999999999999999999999 min", "the number is too large"),
        ("1000000000000000000000000000000 ns", "the number has more than 30 digits"),
    ];
    for (text, reason) in wrong {
        let help = "write a number and a unit: ns, us, ms, s, min or h, as in \"25 us\"";
        assert_eq!(parse_duration_ns(text), Err(format!("{reason}; {help}")), "{text}");
    }
}

#[test]
fn sizes() {
    let cases = [
        ("4 KiB", 4_096),
        ("512 B", 512),
        ("512", 512),
        ("1 GiB", 1 << 30),
        ("2TiB", 2 << 40),
        ("1 MB", 1_000_000),
        ("1 kB", 1_000),
        ("1 KB", 1_000),
        ("1.5 GB", 1_500_000_000),
        ("0.5 KiB", 512),
    ];
    for (text, bytes) in cases {
        assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
    }
    for (text, reason) in [
        ("0.3 B", "it is not a whole number of bytes;"),
        ("4 kib", "unknown unit `kib`, did you mean `KiB`?;"),
        ("20000000 TiB", "the number is too large;"),
    ] {
        let error = parse_bytes(text).expect_err(text);
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn rates() {
    let cases = [
        ("25 ns/B", (25, 1)),
        ("0.625 ns/B", (5, 8)),
        ("1600 MB/s", (5, 8)),
        ("1.6 GB / s", (5, 8)),
        // 10^9 / (40 * 2^20)
        ("40 MiB/s", (390_625, 16_384)),
        ("1 us/KiB", (125, 128)),
        ("0 ns/B", (0, 1)),
    ];
    for (text, ratio) in cases {
        let rate = parse_rate(text).expect(text);
        assert_eq!(rate.ns_per_byte(), ratio, "{text}");
    }
    let rate = parse_rate("0.625 ns/B").expect("valid");
    assert_eq!([0, 1, 2, 4_096].map(|bytes| rate.ns_for(bytes)), [0, 1, 1, 2_560]);
    // 2 bytes take 1.25 ns, 4 take 2.5 ns: halves go up.
    assert_eq!(rate.ns_for(4), 3);
    assert!(!rate.is_zero());
    assert!(parse_rate("0 ns/B").expect("valid").is_zero());
    assert_eq!(parse_rate("25 ns/B").expect("valid").ns_for(u64::MAX), u64::MAX);
    for (text, reason) in [
        ("0 MB/s", "a rate of 0 bytes per second is not possible"),
        ("25 ns", "the unit needs a `/`"),
        ("25 MB/ms", "unknown unit `MB`"),
        ("25 Mb/s", "unknown unit `Mb`, did you mean `MB`?"),
        ("-1 ns/B", "`-1` is negative"),
        ("0.123456789012345678901234567891 ns/B", "the number has too many digits"),
        ("1 ns/", "the unit is missing"),
    ] {
        let error = parse_rate(text).expect_err(text);
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn thresholds() {
    let share = Share { numerator: 1, denominator: 20 };
    let cases = [
        ("4 blocks", Threshold::Blocks(4)),
        ("1 block", Threshold::Blocks(1)),
        ("256 pages", Threshold::Pages(256)),
        ("1page", Threshold::Pages(1)),
        ("5%", Threshold::Share { share, of: ShareOf::Physical }),
        ("5 %", Threshold::Share { share, of: ShareOf::Physical }),
        ("5% of physical", Threshold::Share { share, of: ShareOf::Physical }),
        ("5% of pages", Threshold::Share { share, of: ShareOf::Pages }),
        ("5 % of  spare", Threshold::Share { share, of: ShareOf::Spare }),
        ("5% of soft", Threshold::Share { share, of: ShareOf::Soft }),
    ];
    for (text, threshold) in cases {
        assert_eq!(parse_threshold(text), Ok(threshold), "{text}");
    }
    for (text, reason) in [
        ("4", "the unit is missing;"),
        ("1.5 blocks", "it is not a whole number of blocks;"),
        ("101%", "a share must be at most the whole (100%);"),
        ("5% of spares", "a share must be `of physical`, `of pages`, `of spare` or `of soft`;"),
        ("4 Blocks", "unknown unit `Blocks`, did you mean `blocks`?;"),
        ("-4 pages", "`-4` is negative;"),
    ] {
        let error = parse_threshold(text).expect_err(text);
        assert!(error.starts_with(reason), "{error}");
    }
}

#[test]
fn shares_truncate_exactly() {
    let five = parse_share("5%").expect("valid");
    assert_eq!(five, parse_share("0.05").expect("valid"));
    assert_eq!([0, 19, 20, 2_048].map(|total| five.of(total)), [0, 0, 1, 102]);
    assert_eq!(parse_share("100%").expect("valid").of(u64::MAX), u64::MAX);
    assert_eq!(parse_share("0").expect("valid").of(u64::MAX), 0);
    // 29% of 100 is 28 when reckoned in binary fractions.
    assert_eq!(parse_share("0.29").expect("valid").of(100), 29);
    assert!(parse_share("1.01").is_err());
    assert!(parse_share("5 percent").is_err());
}

#[test]
fn the_nearest_word() {
    let words = ["channels", "dies_per_channel", "planes", "read", "us"];
    let near = |word| nearest(word, &words);
    assert_eq!(near("chanels"), Some("channels"));
    assert_eq!(near("dies-per-channel"), Some("dies_per_channel"));
    assert_eq!(near("READ"), Some("read"));
    assert_eq!(near("raed"), Some("read"));
    assert_eq!(near("zebra"), None);
    assert_eq!(near(""), None);
    assert_eq!(near(&"x".repeat(100_000)), None);
}
