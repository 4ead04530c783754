//! `address`, `read_address` and `write_address`, and the footprint.

use crate::exclusive::PLACES;
use flashgc_config::Reader;
use flashgc_workload::address::{AddressChoice, Group};
use flashgc_workload::ranked::{Ranks, Shuffle, ZipfChoice};
use flashgc_workload::synthetic::Footprint;

const HELP: &str = "\"uniform\", { zipf = 0.99 }, { pareto = 0.2 }, { normal = { stddev = 0.1 } }, \
     { hot_cold = { f = 0.2, r = 0.8 } } (the share r of the requests goes to the share f of the \
     drive), or { groups = [{ places = 0.2, requests = 0.8 }] }";

/// Sums of shares that were written with few digits.
const TOLERANCE: f64 = 1e-6;

/// Reads the distribution under `key`. `None` where there is none, and after an error.
pub fn read(table: &Reader<'_>, key: &str) -> Option<AddressChoice> {
    if !table.has(key) {
        return None;
    }
    if !table.is_table(key) {
        return match table.string(key)? {
            "uniform" => Some(AddressChoice::Uniform),
            other => {
                let message = format!("unknown address distribution \"{other}\"");
                table.error(key, message, HELP);
                None
            }
        };
    }
    let choice = table.table(key);
    // Each is asked for, so that the help of a misspelt one names it.
    let given: Vec<&str> = PLACES.iter().copied().filter(|name| choice.has(name)).collect();
    if let [first, second, ..] = given[..] {
        let message = format!("`{first}` and `{second}` are two distributions of `{key}`");
        choice.error(second, message, format!("keep one of `{}`", given.join("`, `")));
        return None;
    }
    let chosen = if choice.has("zipf") {
        zipf(&choice)
    } else if choice.has("pareto") {
        pareto(&choice)
    } else if choice.has("normal") {
        normal(&choice.table("normal"))
    } else if choice.has("hot_cold") {
        let shares = choice.table("hot_cold");
        let f = shares.required("f", shares.part("f", 0.0..=1.0), "the hot share of the drive");
        let r = shares.required(
            "r",
            shares.part("r", 0.0..=1.0),
            "the share of the requests that go there",
        );
        shares.finish();
        f.zip(r).map(|(f, r)| AddressChoice::HotCold { f, r })
    } else if choice.has("groups") {
        groups(&choice).and_then(|groups| scattered(&choice, groups))
    } else {
        table.error(key, "the address distribution has no name", HELP);
        None
    };
    choice.finish();
    chosen
}

/// `zipf`, and the keys of its table.
fn zipf(choice: &Reader<'_>) -> Option<AddressChoice> {
    const RANKS: &[(&str, Ranks)] =
        &[("scattered", Ranks::Scattered), ("in-order", Ranks::InOrder), ("hashed", Ranks::Hashed)];
    const DRAW: &[(&str, bool)] = &[("exact", false), ("formula", true)];
    let theta = choice.f64("zipf", 0.0..=10.0);
    let ranks = choice.choice("ranks", RANKS).unwrap_or(Ranks::Scattered);
    let by_formula = choice.choice("draw", DRAW).unwrap_or(false);
    if by_formula && theta == Some(1.0) {
        let help = "set zipf = 0.99 or zipf = 1.01, or draw = \"exact\"";
        choice.error("draw", "the formula has no value for zipf = 1.0", help);
        return None;
    }
    let shuffle = match choice.has("shuffle") {
        true => Some(shuffle(&choice.table("shuffle"))?),
        false => None,
    };
    let population = match choice.has("population") {
        true => Some(choice.u64("population", 1..=1 << 50)?),
        false => None,
    };
    let theta = theta?;
    Some(AddressChoice::Zipf(ZipfChoice { theta, ranks, by_formula, shuffle, population }))
}

fn shuffle(table: &Reader<'_>) -> Option<Shuffle> {
    let share = table.required(
        "share",
        table.part("share", 0.0..=1.0),
        "the share of the ranks that change places, the most popular ones",
    );
    let every = table.required(
        "every",
        table.part("every", 0.0..=1e6),
        "requests between two changes, as a share of the places",
    );
    table.finish();
    let (share, every) = (share?, every?);
    Some(Shuffle { share, every })
}

fn pareto(choice: &Reader<'_>) -> Option<AddressChoice> {
    let h = choice.part("pareto", 0.0..=1.0)?;
    if h == 0.0 || h == 1.0 {
        choice.error(
            "pareto",
            format!("pareto must be above 0 and below 1, got {h}"),
            "give the share of the places that gets the rest of the requests: with 0.2, 80 % of \
             the requests go to 20 % of the places",
        );
        return None;
    }
    Some(AddressChoice::Pareto { h })
}

fn normal(table: &Reader<'_>) -> Option<AddressChoice> {
    let stddev = table.required(
        "stddev",
        table.part("stddev", 0.0..=1.0),
        "the standard deviation, as a share of the places",
    );
    let center = if table.has("center") { table.part("center", 0.0..=1.0) } else { Some(0.5) };
    table.finish();
    let (stddev, center) = (stddev?, center?);
    Some(AddressChoice::Normal { stddev, center })
}

/// The rest of the requests goes to the rest of the places.
fn groups(choice: &Reader<'_>) -> Option<Vec<Group>> {
    let mut groups = Vec::new();
    let (mut places, mut requests) = (0.0, 0.0);
    for item in choice.tables("groups")? {
        let share = |key: &str, what: &str| item.required(key, item.part(key, 0.0..=1.0), what);
        let group = share("places", "the group's share of the pages")
            .zip(share("requests", "the share of the requests that go there"));
        item.finish();
        let group = group.map(|(places, requests)| Group { places, requests })?;
        places += group.places;
        requests += group.requests;
        groups.push(group);
    }
    if places > 1.0 + TOLERANCE || requests > 1.0 + TOLERANCE {
        choice.error(
            "groups",
            format!(
                "the shares of the groups add up to {places:.4} of the places and {requests:.4} of \
                 the requests"
            ),
            "reduce them so that each sum is at most 1",
        );
        return None;
    }
    let rest = Group { places: (1.0 - places).max(0.0), requests: (1.0 - requests).max(0.0) };
    if rest.requests > TOLERANCE {
        if rest.places <= TOLERANCE {
            choice.error(
                "groups",
                format!("{:.4} of the requests belong to no group", rest.requests),
                "make the shares of the requests add up to 1, or leave some places outside all \
                 groups",
            );
            return None;
        }
        groups.push(rest);
    }
    Some(groups)
}

/// The groups one behind the other, or with `scatter` over all places.
fn scattered(choice: &Reader<'_>, groups: Vec<Group>) -> Option<AddressChoice> {
    if !choice.has("scatter") {
        return Some(AddressChoice::Groups(groups));
    }
    let scatter = choice.u64("scatter", 0..=u64::MAX)?;
    Some(AddressChoice::Scattered { groups, scatter })
}

/// Reads the footprint: a share of the drive, or a size.
pub fn footprint(table: &Reader<'_>) -> Option<Footprint> {
    if table.is_text("footprint") && !table.is_percentage("footprint") {
        return table.bytes("footprint").map(Footprint::Bytes);
    }
    table.part("footprint", 0.0..=1.0).map(Footprint::Share)
}
