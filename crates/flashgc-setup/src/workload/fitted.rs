//! `[workload.fitted]`: a fitted workload, as `flashgc trace fit` writes it.

use super::length;
use flashgc_config::{Reader, units};
use flashgc_model::plan::Until;
use flashgc_workload::fitted::{
    Ages, BurstPlan, FittedPlan, Mixture, PAGE_BYTES, PartPlan, PlacesPlan, RegionPlan,
};

/// More of anything than this is a mistake.
const MANY: u64 = 1 << 32;
/// The largest request, in bytes.
const SIZE_BYTES_MAX: u64 = 1 << 30;

/// Reads the table. Errors are noted; `None` where there can be no plan.
pub fn read(table: &Reader<'_>, until: Option<&Until>) -> Option<FittedPlan> {
    let requests = length::read(table, until);
    let rate = table.f64("rate", 1e-6..=1e6).unwrap_or(1.0);
    let read_only_run = mixture(table, "read_only_run", PAGES).unwrap_or(Mixture::only(1));
    let read_offset = mixture(table, "read_offset", OFFSET).unwrap_or(Mixture::only(0));
    let places = list(table, "places", places);
    let kinds = places.as_ref().map_or(0, Vec::len);
    let regions = needed(table, "regions", |item| region(item, kinds));
    let bursts = needed(table, "bursts", |item| burst(item, kinds));
    let burst_kinds = bursts.as_ref().map_or(0, Vec::len);
    let course = needed(table, "course", |item| part(item, burst_kinds));
    table.finish();
    let course = course?;
    if !course.iter().any(|part| part.bursts.iter().any(|&(_, count)| count > 0)) {
        table.error(
            "course",
            "the course contains no burst",
            "give for example bursts = { 1 = 20 }",
        );
        return None;
    }
    let (requests, bursts) = (requests?, bursts?);
    let mut in_course = course.iter().flat_map(|part| &part.bursts);
    let writes =
        in_course.any(|&(kind, count)| count > 0 && bursts[kind as usize].read_share < 1.0);
    length::check_writes(table, requests, writes);
    Some(FittedPlan {
        requests,
        rate,
        places: places?,
        regions: regions?,
        read_only_run,
        read_offset,
        bursts,
        course,
    })
}

/// A list that may be missing.
fn list<'a, T>(
    table: &Reader<'a>,
    key: &str,
    item: impl Fn(&Reader<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    if !table.has(key) {
        return Some(Vec::new());
    }
    let items = table.tables(key)?;
    // Every item is read, so that all errors are reported.
    let read: Vec<Option<T>> = items.iter().map(item).collect();
    read.into_iter().collect()
}

fn needed<'a, T>(
    table: &Reader<'a>,
    key: &str,
    item: impl Fn(&Reader<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    let found = list(table, key, item)?;
    let some = (!found.is_empty()).then_some(found);
    table.required(key, some, "at least one table; `flashgc trace fit` writes them from a trace")
}

fn places(table: &Reader<'_>) -> Option<PlacesPlan> {
    let size = mixture(table, "size", SIZE);
    let size = table.required("size", size, SIZE.example);
    let offset = mixture(table, "offset", OFFSET).unwrap_or(Mixture::only(0));
    let run = mixture(table, "run", PAGES).unwrap_or(Mixture::only(1));
    let (adjacent, in_order) = (share(table, "adjacent"), share(table, "in_order"));
    let age = ages(table);
    let sequential_share = share(table, "sequential_share");
    table.finish();
    let (size, age) = (size?, age?);
    Some(PlacesPlan { size, offset, run, adjacent, in_order, age, sequential_share })
}

fn region(table: &Reader<'_>, kinds: usize) -> Option<RegionPlan> {
    let count = table.u32("count", 1..=u32::MAX).unwrap_or(1);
    let of_pages = table.u32("pages", 1..=1 << 24);
    let of_pages = table.required("pages", of_pages, "the number of 4 KiB pages, as in 1024");
    let written = table.table("written");
    let mut pages = vec![0.0; kinds];
    for key in written.keys() {
        let count = written.f64(&key, 0.0..=f64::from(1 << 24));
        let kind = index(&written, &key, kinds, "places");
        if let (Some(kind), Some(count)) = (kind, count) {
            pages[kind] = count;
        }
    }
    table.finish();
    let of_pages = of_pages?;
    let sum = pages.iter().sum::<f64>();
    if sum > f64::from(of_pages) * 1.001 {
        table.error(
            "written",
            format!("written pages add up to {sum}, but the region has {of_pages}"),
            "reduce them so that they add up to at most `pages`",
        );
        return None;
    }
    Some(RegionPlan { count, of_pages, pages })
}

fn burst(table: &Reader<'_>, kinds: usize) -> Option<BurstPlan> {
    let read_share = share(table, "read_share");
    let places = mixture_by_index(table, "places", kinds, "places");
    let lacks_places = places.is_none() && read_share < 1.0;
    let plan = BurstPlan {
        length: mixture(table, "length", COUNT).unwrap_or(Mixture::only(1)),
        pause: mixture(table, "pause", TIME).unwrap_or(Mixture::only(0)),
        gap: mixture(table, "gap", TIME).unwrap_or(Mixture::only(0)),
        stay: share(table, "stay"),
        read_share,
        same_share: share(table, "same_share"),
        read_size: mixture(table, "read_size", SIZE).unwrap_or(Mixture::only(PAGE_BYTES)),
        read_sequential_share: share(table, "read_sequential_share"),
        read_written_share: share(table, "read_written_share"),
        again_share: share(table, "again_share"),
        places: places.unwrap_or_default(),
    };
    table.finish();
    if lacks_places {
        table.error(
            "places",
            "a burst with writes needs `places`",
            "give numbers of [[workload.fitted.places]] with weights, as in { 1 = 0.7, 3 = 0.3 }",
        );
        return None;
    }
    Some(plan)
}

fn part(table: &Reader<'_>, kinds: usize) -> Option<PartPlan> {
    let pauses_ns = table.duration_ns("pauses").unwrap_or(0);
    let counts = table.table("bursts");
    let of = |key: &String| {
        let count = counts.u32(key, 0..=1 << 20);
        Some((index(&counts, key, kinds, "bursts")? as u32, count?))
    };
    let bursts: Vec<Option<(u32, u32)>> = counts.keys().iter().map(of).collect();
    table.finish();
    Some(PartPlan { pauses_ns, bursts: bursts.into_iter().collect::<Option<_>>()? })
}

fn share(table: &Reader<'_>, key: &str) -> f64 {
    table.part(key, 0.0..=1.0).unwrap_or(0.0)
}

/// A number from 1 that names one of a list.
fn index(table: &Reader<'_>, key: &str, count: usize, what: &str) -> Option<usize> {
    let found = key.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    if found.is_none() {
        let help = format!("numbers start at 1, in the order of the list, which has {count}");
        table.error(key, format!("`{what}` has no number {key}"), help);
    }
    found.map(|number| number - 1)
}

/// The kind of the values of a mixture.
#[derive(Clone, Copy)]
struct Values {
    parse: fn(&str) -> Option<u64>,
    example: &'static str,
}

const SIZE: Values = Values {
    parse: |text| {
        let bytes = units::parse_bytes(text).ok()?;
        (bytes > 0 && bytes.is_multiple_of(512) && bytes <= SIZE_BYTES_MAX).then_some(bytes)
    },
    example: "multiples of 512 B up to 1 GiB with weights, as in { \"4 KiB\" = 0.7, \"64 KiB\" = \
              0.3 }",
};
const OFFSET: Values = Values {
    parse: |text| {
        let bytes = units::parse_bytes(text).ok()?;
        (bytes.is_multiple_of(512) && bytes < PAGE_BYTES).then_some(bytes)
    },
    example: "multiples of 512 B below 4 KiB with weights, as in { \"0 B\" = 0.9, \"512 B\" = 0.1 \
              }",
};
const TIME: Values = Values {
    parse: |text| units::parse_duration_ns(text).ok(),
    example: "durations with weights, as in { \"10 us\" = 0.7, \"2 ms\" = 0.3 }",
};
const COUNT: Values = Values {
    parse: |text| text.parse().ok().filter(|count| (1..MANY).contains(count)),
    example: "counts with weights, as in { 1 = 0.7, 8 = 0.3 }",
};
const PAGES: Values =
    Values { parse: COUNT.parse, example: "pages with weights, as in { 1 = 0.7, 8 = 0.3 }" };

/// Values with weights. `None` where there are none, and after an error.
fn mixture(table: &Reader<'_>, key: &str, values: Values) -> Option<Mixture> {
    if !table.has(key) {
        return None;
    }
    let given = table.table(key);
    let mut weighted = Vec::new();
    for name in given.keys() {
        let weight = given.f64(&name, 0.0..=1e9);
        let Some(value) = (values.parse)(&name) else {
            given.error(&name, format!("the value \"{name}\" is not allowed"), values.example);
            return None;
        };
        weighted.push((value, weight?));
    }
    given.finish();
    let found = Mixture::new(&weighted);
    if found.is_none() {
        table.error(key, "all weights are 0", values.example);
    }
    found
}

fn mixture_by_index(table: &Reader<'_>, key: &str, count: usize, what: &str) -> Option<Mixture> {
    if !table.has(key) {
        return None;
    }
    let given = table.table(key);
    let mut weighted = Vec::new();
    for name in given.keys() {
        let weight = given.f64(&name, 0.0..=1e9);
        weighted.push((index(&given, &name, count, what)? as u64, weight?));
    }
    given.finish();
    Mixture::new(&weighted)
}

/// Ranges of ages, each from the end of the one before.
fn ages(table: &Reader<'_>) -> Option<Ages> {
    const HELP: &str = "range ends in rising order between 0 (the newest) and 1 (the oldest) with \
                        weights, as in { \"0.01\" = 0.3, \"0.5\" = 0.2, \"1\" = 0.5 }";
    if !table.has("age") {
        return Ages::new(&[(0.999_999, 1.0)]);
    }
    let given = table.table("age");
    let mut weighted: Vec<(f64, f64)> = Vec::new();
    for name in given.keys() {
        let weight = given.f64(&name, 0.0..=1e9)?;
        let end = name.parse::<f64>().ok().filter(|end| (0.0..=1.0).contains(end));
        let before = weighted.last().map_or(0.0, |&(end, _)| end);
        match end.filter(|end| *end >= before) {
            Some(end) => weighted.push((end, weight)),
            None => {
                given.error(
                    &name,
                    format!("the range end \"{name}\" is not in rising order between 0 and 1"),
                    HELP,
                );
                return None;
            }
        }
    }
    given.finish();
    table.required("age", Ages::new(&weighted), HELP)
}
