//! `[workload.synthetic]`: the base, and the phases that override it.

use super::{SyntheticWorkload, address, arrivals, hints, length, sizes};
use flashgc_config::Reader;
use flashgc_model::plan::Arrivals;
use flashgc_model::plan::Until;
use flashgc_workload::address::AddressChoice;
use flashgc_workload::hints::HintPlan;
use flashgc_workload::length::Length;
use flashgc_workload::synthetic::{
    Footprint, HighShares, Interarrival, Mix, PatternPlan, PhasePlan, Size, SyntheticPlan,
};

/// A value for all requests, and those for reads and for writes, which have precedence.
#[derive(Clone)]
struct ByOp<T> {
    both: Option<T>,
    read: Option<T>,
    write: Option<T>,
}

impl<T: Clone> ByOp<T> {
    fn from(table: &Reader<'_>, key: &str, value: impl Fn(&Reader<'_>, &str) -> Option<T>) -> Self {
        ByOp {
            both: value(table, key),
            read: value(table, &format!("read_{key}")),
            write: value(table, &format!("write_{key}")),
        }
    }

    /// Any value of a phase has precedence over all values of the base.
    fn for_reads(&self, base: &Self) -> Option<T> {
        [&self.read, &self.both, &base.read, &base.both].into_iter().find_map(Option::clone)
    }

    fn for_writes(&self, base: &Self) -> Option<T> {
        [&self.write, &self.both, &base.write, &base.both].into_iter().find_map(Option::clone)
    }
}

/// The values of one table, the base or a phase. A value that is wrong counts as not given: its
/// error is noted.
struct Given<'a> {
    table: Reader<'a>,
    read_share: Option<f64>,
    trim_share: Option<f64>,
    size: ByOp<Vec<Size>>,
    address: ByOp<AddressChoice>,
    sequential_share: ByOp<f64>,
    extent: ByOp<u64>,
    high_share: ByOp<f64>,
    hints: Option<HintPlan>,
    footprint: Option<Footprint>,
    interarrival: ByOp<Interarrival>,
}

impl<'a> Given<'a> {
    fn from(table: &Reader<'a>, align_bytes: Option<u64>) -> Self {
        let share = |table: &Reader<'_>, key: &str| table.part(key, 0.0..=1.0);
        Given {
            read_share: share(table, "read_share"),
            trim_share: share(table, "trim_share"),
            size: ByOp::from(table, "size", sizes::read),
            address: ByOp::from(table, "address", address::read),
            sequential_share: ByOp::from(table, "sequential_share", share),
            extent: ByOp::from(table, "extent", |table, key| extent(table, key, align_bytes)),
            high_share: ByOp::from(table, "high_share", share),
            hints: hints::read(table),
            footprint: address::footprint(table),
            interarrival: ByOp::from(table, "interarrival", arrivals::read),
            table: table.clone(),
        }
    }

    fn has(&self, keys: &[&'static str]) -> Option<&'static str> {
        keys.iter().copied().find(|key| self.table.has(key))
    }

    /// The first key that sets when requests arrive.
    fn arrival_key(&self) -> Option<&'static str> {
        self.has(&["interarrival", "read_interarrival", "write_interarrival"])
    }
}

/// Reads the table. Errors are noted; `None` where there can be no plan.
pub fn read(
    table: &Reader<'_>,
    page_bytes: u64,
    until: Option<&Until>,
) -> Option<SyntheticWorkload> {
    let requests = length::read(table, until);
    let align_bytes = align(table, page_bytes);
    let base = Given::from(table, align_bytes);
    let large_align_bytes = large_align(table, align_bytes);
    let depth = table.u32("queue_depth", 1..=1_000_000);
    let rate = table.f64("rate", 1e-6..=1e6);
    let listed = if table.has("phases") { table.tables("phases") } else { None };
    let mut phases = Vec::new();
    for item in listed.iter().flatten() {
        let share = item.required(
            "share",
            item.part("share", 0.0..=1.0),
            "the phase's share of the requests",
        );
        phases.push((share, Given::from(item, align_bytes)));
        item.finish();
    }
    table.finish();
    let arrivals = arrivals_of(&base, &phases, depth)?;
    if rate.is_some() && arrivals != Arrivals::Open {
        table.error(
            "rate",
            "`rate` needs an open loop, but `queue_depth` makes a closed one",
            "remove `rate`, or give `interarrival` instead of `queue_depth`",
        );
    }
    let (requests, align_bytes) = (requests?, align_bytes?);
    let plans = if listed.is_none() {
        // The only phase has no keys of its own.
        vec![phase(&base, &base, requests, arrivals, page_bytes)?]
    } else {
        let counts = shared_out(table, &phases, requests)?;
        let plan = |((_, given), requests): (&(_, Given<'_>), Length)| {
            phase(given, &base, requests, arrivals, page_bytes)
        };
        phases.iter().zip(counts).map(plan).collect::<Option<Vec<_>>>()?
    };
    for phase in &plans {
        length::check_writes(table, phase.requests, phase.mix.write_share() > 0.0);
    }
    if until.is_some() && plans.len() > 1 {
        table.error(
            "phases",
            "`until` cannot be combined with several phases: a workload that changes is never \
             steady",
            "remove `workload.until`, or run each phase on its own",
        );
    }
    Some(SyntheticWorkload {
        plan: SyntheticPlan {
            requests,
            align_bytes,
            large_align_bytes,
            rate: rate.unwrap_or(1.0),
            phases: plans,
        },
        arrivals,
    })
}

/// `align`: requests begin at its multiples. A page by default.
fn align(table: &Reader<'_>, page_bytes: u64) -> Option<u64> {
    let align = table.bytes("align").unwrap_or(page_bytes);
    if align == 0 || !align.is_multiple_of(512) {
        table.error(
            "align",
            format!("align must be a multiple of 512 B, got {align} B"),
            "write for example align = \"4 KiB\"",
        );
        return None;
    }
    Some(align)
}

/// `large_align`: requests of at least this size begin at its multiples.
fn large_align(table: &Reader<'_>, align: Option<u64>) -> Option<u64> {
    let large = table.bytes("large_align")?;
    let align = align?;
    if large == 0 || !large.is_multiple_of(align) {
        table.error(
            "large_align",
            format!("large_align must be a multiple of align ({align} B), got {large} B"),
            "write for example align = \"512 B\" and large_align = \"4 KiB\"",
        );
        return None;
    }
    Some(large)
}

/// `extent`: consecutive requests access it from its start to its end.
fn extent(table: &Reader<'_>, key: &str, align: Option<u64>) -> Option<u64> {
    let extent = table.bytes(key)?;
    let align = align?;
    if extent == 0 || !extent.is_multiple_of(align) {
        table.error(
            key,
            format!("{key} must be a multiple of align ({align} B), got {extent} B"),
            format!("write for example {key} = \"1 MiB\""),
        );
        return None;
    }
    Some(extent)
}

/// One closed loop for all phases, or an open loop in each.
fn arrivals_of(
    base: &Given<'_>,
    phases: &[(Option<f64>, Given<'_>)],
    depth: Option<u32>,
) -> Option<Arrivals> {
    const ONE_WAY: &str = "the arrivals of requests must be given in exactly one way";
    const HELP: &str = "closed loop: `queue_depth = 64`; open loop: \
                        [workload.synthetic.interarrival], or `read_interarrival` and \
                        `write_interarrival`";
    let error = |given: &Given<'_>, key: &str| {
        given.table.error(key, ONE_WAY, HELP);
        None
    };
    if base.table.has("queue_depth") {
        let all = std::iter::once(base).chain(phases.iter().map(|(_, given)| given));
        for given in all {
            if let Some(key) = given.arrival_key() {
                let key = if given.table.path() == base.table.path() { "queue_depth" } else { key };
                return error(given, key);
            }
        }
        return depth.map(Arrivals::Closed);
    }
    let open = |given: &Given<'_>| given.arrival_key().is_some();
    let all_open = !phases.is_empty() && phases.iter().all(|(_, given)| open(given));
    if open(base) || all_open {
        return Some(Arrivals::Open);
    }
    error(base, "interarrival")
}

/// The requests of each phase; they are all requests.
fn shared_out(
    table: &Reader<'_>,
    phases: &[(Option<f64>, Given<'_>)],
    length: Length,
) -> Option<Vec<Length>> {
    let shares = phases.iter().map(|(share, _)| *share).collect::<Option<Vec<f64>>>()?;
    let total: f64 = shares.iter().sum();
    if (total - 1.0).abs() > 1e-6 {
        table.error(
            "phases",
            format!("the shares of the phases must add up to 1, got {total:.6}"),
            "change the shares so that they add up to 1",
        );
        return None;
    }
    let Length::Requests(requests) = length else {
        return Some(shares.iter().map(|share| length.share(share / total)).collect());
    };
    let (mut sum, mut before) = (0.0, 0);
    let mut counts = Vec::new();
    for share in shares {
        sum += share;
        let up_to = (libm::round(sum / total * requests as f64) as u64).min(requests);
        counts.push(up_to - before);
        before = up_to;
    }
    // The rest from rounding.
    if let Some(last) = counts.last_mut() {
        *last += requests - before;
    }
    Some(counts.into_iter().map(Length::Requests).collect())
}

fn phase(
    given: &Given<'_>,
    base: &Given<'_>,
    requests: Length,
    arrivals: Arrivals,
    page_bytes: u64,
) -> Option<PhasePlan> {
    let one_page = || vec![Size::Fixed { bytes: page_bytes, weight: 1.0 }];
    let (size, place, next) = (&given.size, &given.address, &given.sequential_share);
    let read = PatternPlan {
        sizes: size.for_reads(&base.size).unwrap_or_else(one_page),
        address: place.for_reads(&base.address).unwrap_or(AddressChoice::Uniform),
        sequential_share: next.for_reads(&base.sequential_share).unwrap_or(0.0),
        extent_bytes: given.extent.for_reads(&base.extent),
    };
    let write = PatternPlan {
        sizes: size.for_writes(&base.size).unwrap_or_else(one_page),
        address: place.for_writes(&base.address).unwrap_or(AddressChoice::Uniform),
        sequential_share: next.for_writes(&base.sequential_share).unwrap_or(0.0),
        extent_bytes: given.extent.for_writes(&base.extent),
    };
    let footprint = given.footprint.or(base.footprint).unwrap_or(Footprint::Share(1.0));
    let high_share = HighShares {
        read: given.high_share.for_reads(&base.high_share).unwrap_or(0.0),
        write: given.high_share.for_writes(&base.high_share).unwrap_or(0.0),
    };
    let own = if given.hints.is_some() { given } else { base };
    hints::check(&own.table, own.hints.as_ref(), &write.address);
    let hints = own.hints.clone();
    let mix = mix(given, base, arrivals)?;
    Some(PhasePlan { requests, mix, footprint, read, write, high_share, hints })
}

/// The table nearer to the phase sets when requests arrive; its keys belong together.
fn mix(given: &Given<'_>, base: &Given<'_>, arrivals: Arrivals) -> Option<Mix> {
    let times = if given.arrival_key().is_some() { given } else { base };
    if times.has(&["read_interarrival", "write_interarrival"]).is_some() {
        return streams(times, given);
    }
    let read_share = given.read_share.or(base.read_share).unwrap_or(0.0);
    let trim_share = given.trim_share.or(base.trim_share).unwrap_or(0.0);
    if read_share + trim_share > 1.0 {
        let table = if given.table.has("trim_share") { &given.table } else { &base.table };
        table.error(
            "trim_share",
            format!("read_share + trim_share must be at most 1, got {}", read_share + trim_share),
            "reduce one of them; the rest of the requests are writes",
        );
    }
    let interarrival = match arrivals {
        Arrivals::Closed(_) | Arrivals::Jobs => None,
        Arrivals::Open => Some(times.interarrival.both?),
    };
    Some(Mix::Shares { read_share, trim_share, interarrival })
}

fn streams(times: &Given<'_>, given: &Given<'_>) -> Option<Mix> {
    let (table, of) = (&times.table, &times.interarrival);
    if table.has("interarrival") {
        table.error(
            "interarrival",
            "`interarrival` cannot be combined with `read_interarrival` or `write_interarrival`",
            "give `interarrival` alone, or `read_interarrival` and `write_interarrival`",
        );
    }
    for key in ["read_interarrival", "write_interarrival"] {
        let found = table.has(key).then_some(());
        table.required(
            key,
            found,
            "give both `read_interarrival` and `write_interarrival`, or one `interarrival` for all \
             requests",
        );
    }
    // The shares of the base are for phases with one stream, where there are any.
    let shares = [times, given]
        .into_iter()
        .find_map(|given| given.has(&["read_share", "trim_share"]).map(|key| (&given.table, key)));
    if let Some((table, key)) = shares {
        table.error(
            key,
            format!(
                "`{key}` cannot be combined with `read_interarrival` and `write_interarrival`, \
                 whose rates determine it"
            ),
            format!("remove `{key}`, or give one `interarrival` for all requests"),
        );
    }
    Some(Mix::Streams { read: of.read?, write: of.write? })
}

/// Keys for all requests that are replaced by those for reads and for writes.
pub fn unused(table: &Reader<'_>) -> Vec<String> {
    let given = |key: &str| table.place(key).is_some();
    let hidden =
        |key: &str| given(key) && given(&format!("read_{key}")) && given(&format!("write_{key}"));
    let keys = ["size", "address", "sequential_share", "extent", "high_share"];
    let keys = keys.into_iter().filter(|key| hidden(key));
    keys.map(|key| format!("workload.synthetic.{key}")).collect()
}
