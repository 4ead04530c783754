//! `[workload.jobs]`: concurrent jobs, each with its own depth and rates.

mod beside;
mod sprandom;
mod walk;

use super::{JobsWorkload, address, hints, limit, sizes};
use flashgc_config::Reader;
use flashgc_model::plan::Plan;
use flashgc_model::plan::Until;
use flashgc_workload::address::AddressChoice;
use flashgc_workload::jobs::{
    CLONES_MAX, Extent, File, FlowPlan, JobPlan, JobsPlan, Layout, Misfit, Passes, Places, RateCap,
    Think, Zone,
};
use flashgc_workload::synthetic::Size;

/// Sums of shares that were written with few digits.
const TOLERANCE: f64 = 1e-6;
/// The word for the whole drive, in place of a file's name.
const DRIVE: &str = "drive";
const KINDS: [&str; 3] = ["read", "write", "trim"];

/// Reads the table. Errors are noted; `None` where there can be no plan.
pub fn read(table: &Reader<'_>, page_bytes: u64, until: Option<&Until>) -> Option<JobsWorkload> {
    let scale = if table.has("scale") { table.f64("scale", 1e-6..=1e6) } else { Some(1.0) };
    let listed = if table.has("job") { table.tables("job") } else { None };
    let listed = table.required("job", listed, "at least one job, as in `[[workload.jobs.job]]`");
    let mut plans: Vec<Option<JobPlan>> =
        listed.iter().flatten().enumerate().map(|(at, item)| job(item, at, page_bytes)).collect();
    let replayed = beside::read(&table.table("trace"), &plans, page_bytes);
    table.finish();
    let trace = match replayed {
        None => None,
        Some(replayed) => {
            let (job, trace) = replayed.unzip();
            plans.push(job);
            Some(trace)
        }
    };
    if until.is_some() {
        table.error(
            "job",
            "`until` cannot be combined with jobs, which have ends of their own",
            "remove `workload.until`, and let the jobs run longer (amount or runtime of each)",
        );
    }
    let jobs = plans.into_iter().collect::<Option<Vec<_>>>()?;
    let trace = match trace {
        None => None,
        Some(trace) => Some(trace?),
    };
    check_flows(table, &jobs)?;
    let plan = JobsPlan { scale: scale?, jobs };
    (!plan.jobs.is_empty()).then_some(JobsWorkload { plan, trace })
}

/// Jobs of one flow run at the same time: one that waits for another to end would wait for ever.
fn check_flows(table: &Reader<'_>, jobs: &[JobPlan]) -> Option<()> {
    let mut group = 0;
    let mut groups: Vec<(u32, u32)> = Vec::new();
    for (at, job) in jobs.iter().enumerate() {
        group += u32::from(at > 0 && job.after_others);
        let Some(FlowPlan { id, .. }) = job.flow else { continue };
        if groups.iter().any(|&(other, of)| other == id && of != group) {
            table.error(
                "job",
                format!(
                    "job \"{}\" begins when others of its flow ({id}) have ended, and these would \
                     wait for its requests",
                    job.name
                ),
                "give it another `flow_id`, or remove `after_others`",
            );
            return None;
        }
        groups.push((id, group));
    }
    Some(())
}

fn job(table: &Reader<'_>, at: usize, page_bytes: u64) -> Option<JobPlan> {
    let name = table.string("name").map_or_else(|| format!("job {}", at + 1), str::to_string);
    let clones = or(table, "clones", 1, |key| table.u32(key, 1..=CLONES_MAX as u32));
    let (file, part, passes) = (file(table), Part::read(table), passes(table)?);
    let amount = or(table, "amount", Extent::Share(1.0), |key| extent(table, key, 1e6));
    let requests = table.u64("requests", 1..=1_000_000_000_000);
    let loops = or(table, "loops", 1, |key| table.u32(key, 1..=1_000_000));
    let (time, mix) = (Time::read(table), Mix::read(table));
    let random_share = by_kind(table, "random_share", |key| table.part(key, 0.0..=1.0));
    let flag = |key: &str| table.bool(key).unwrap_or(false);
    let (once, poisson, overtake) = (flag("once"), flag("poisson"), flag("overtake"));
    let (walk, sprandom) = (walk::read(table, passes, &file), sprandom::read(table));
    let sizes = by_kind(table, "size", |key| sizes::read(table, key));
    let places = by_kind(table, "address", |key| places(table, key));
    let depth = or(table, "depth", 1, |key| table.u32(key, 1..=1_000_000));
    let (paces, weight) = (paces(table), or(table, "weight", 1, |key| table.u32(key, 1..=256)));
    let flush_after = table.u32("flush_after", 1..=u32::MAX);
    let fua_share = or(table, "fua_share", 0.0, |key| table.part(key, 0.0..=1.0));
    let (limit, hints, think) = (limit::read(table), hints::of_job(table), think(table));
    let align = table.has("align").then(|| table.bytes("align"));
    table.finish();
    let (part, time, mix, (walk, files)) = (part?, time?, mix?, walk?);
    let one_page = || vec![Size::Fixed { bytes: page_bytes, weight: 1.0 }];
    let sizes = sizes?.map(|size| size.unwrap_or_else(one_page));
    let mut plan = JobPlan {
        name,
        clones: clones?,
        replays: false,
        file,
        files,
        offset: part.offset,
        offset_step: part.offset_step,
        size: part.span,
        file_size: part.file_size,
        amount: amount?,
        requests,
        loops: loops?,
        passes,
        runtime_ns: time.runtime_ns,
        ramp_ns: time.ramp_ns,
        flow: time.flow,
        time_based: time.is_based,
        start_ns: time.start_ns,
        after_others: time.after_others,
        read_share: mix.read_share,
        trim_share: mix.trim_share,
        trim_then_write: mix.trim_then_write,
        random_share: random_share?.map(|share| share.unwrap_or(1.0)),
        walk,
        once,
        sprandom: sprandom?,
        sizes,
        align_bytes: 0,
        places: places?.map(|places| places.unwrap_or(Places::Choice(AddressChoice::Uniform))),
        depth: depth?,
        paces: paces?,
        poisson,
        overtake,
        weight: weight?,
        flush_after,
        fua_share: fua_share?,
        hints: hints?,
        limit: limit?,
        think: think?,
    };
    plan.align_bytes = given(align)?.unwrap_or_else(|| plan.sizes_range().1);
    check(table, &plan)?;
    Some(plan)
}

/// A value that is wrong where it is given and could not be read.
fn given<T>(value: Option<Option<T>>) -> Option<Option<T>> {
    match value {
        Some(value) => value.map(Some),
        None => Some(None),
    }
}

/// The flow that it shares with other jobs.
fn flow(table: &Reader<'_>) -> Option<Option<FlowPlan>> {
    let weight = given(table.has("flow").then(|| table.u32("flow", 1..=1000)))?;
    let id = or(table, "flow_id", 0, |key| table.u32(key, 0..=u32::MAX))?;
    if weight.is_none() && table.has("flow_id") {
        table.error(
            "flow_id",
            "`flow_id` needs `flow`, the weight of the job in its flow",
            "add for example flow = 1, or remove `flow_id`",
        );
        return None;
    }
    Some(weight.map(|weight| FlowPlan { id, weight }))
}

fn file(table: &Reader<'_>) -> File {
    match table.string("file") {
        None => File::Own,
        Some(DRIVE) => File::Drive,
        Some(name) => File::Named(name.to_string()),
    }
}

/// The pauses.
fn think(table: &Reader<'_>) -> Option<Think> {
    let after = or(table, "think_after", 1, |key| table.u32(key, 1..=u32::MAX));
    let think_restarts_rate = table.bool("think_restarts_rate").unwrap_or(false);
    let think_ns = table.duration_ns("think").unwrap_or(0);
    Some(Think { think_ns, think_after: after?, think_restarts_rate })
}

/// A value with a default; `None` only where it is wrong.
fn or<T>(
    table: &Reader<'_>,
    key: &str,
    fallback: T,
    read: impl Fn(&str) -> Option<T>,
) -> Option<T> {
    if table.has(key) { read(key) } else { Some(fallback) }
}

/// A value for all requests, and those for reads, writes and trims, which have precedence.
fn by_kind<T: Clone>(
    table: &Reader<'_>,
    key: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Option<[Option<T>; 3]> {
    let mut is_right = true;
    let mut one = |key: &str| {
        let found = if table.has(key) { read(key) } else { return None };
        is_right &= found.is_some();
        found
    };
    let all = one(key);
    let found = KINDS.map(|kind| one(&format!("{kind}_{key}")).or_else(|| all.clone()));
    is_right.then_some(found)
}

/// A size, or a share of another.
fn extent(table: &Reader<'_>, key: &str, most: f64) -> Option<Extent> {
    if table.is_text(key) && !table.is_percentage(key) {
        return table.bytes(key).map(Extent::Bytes);
    }
    table.part(key, 0.0..=most).map(Extent::Share)
}

/// The passes of a job.
fn passes(table: &Reader<'_>) -> Option<Option<Passes>> {
    let words = [("new", Passes::New), ("same", Passes::Same)];
    given(table.has("passes").then(|| table.choice("passes", &words)))
}

/// The part of a file that a job works on.
struct Part {
    offset: Extent,
    offset_step: Extent,
    span: Option<Extent>,
    file_size: Option<Extent>,
}

impl Part {
    fn read(table: &Reader<'_>) -> Option<Part> {
        let zero = Extent::Bytes(0);
        let one = |key: &str| or(table, key, zero, |key| extent(table, key, 1.0));
        let some = |key: &str| given(table.has(key).then(|| extent(table, key, 1.0)));
        let (offset, offset_step) = (one("offset"), one("offset_step"));
        let (span, file_size) = (some("span"), some("file_size"));
        Some(Part {
            offset: offset?,
            offset_step: offset_step?,
            span: span?,
            file_size: file_size?,
        })
    }
}

/// The start, the pauses and the end of a job.
struct Time {
    flow: Option<FlowPlan>,
    runtime_ns: Option<u64>,
    is_based: bool,
    ramp_ns: u64,
    start_ns: u64,
    after_others: bool,
}

impl Time {
    fn read(table: &Reader<'_>) -> Option<Time> {
        let flow = flow(table)?;
        let runtime_ns = table.duration_ns("runtime");
        let is_based = table.bool("time_based").unwrap_or(false);
        let start_ns = table.duration_ns("start").unwrap_or(0);
        let ramp_ns = table.duration_ns("ramp").unwrap_or(0);
        let after_others = table.bool("after_others").unwrap_or(false);
        if is_based && runtime_ns.unwrap_or(0) == 0 {
            table.error(
                "time_based",
                "`time_based` needs a `runtime` above 0",
                "add for example runtime = \"10 s\", or remove `time_based`",
            );
            return None;
        }
        Some(Time { flow, runtime_ns, is_based, ramp_ns, start_ns, after_others })
    }
}

/// The kinds of the requests.
struct Mix {
    read_share: f64,
    trim_share: f64,
    trim_then_write: bool,
}

impl Mix {
    fn read(table: &Reader<'_>) -> Option<Mix> {
        let share = |key: &str| or(table, key, 0.0, |key| table.part(key, 0.0..=1.0));
        let (read_share, trim_share) = (share("read_share"), share("trim_share"));
        let trim_then_write = table.bool("trim_then_write").unwrap_or(false);
        let (read_share, trim_share) = (read_share?, trim_share?);
        if read_share + trim_share > 1.0 + TOLERANCE {
            table.error(
                "trim_share",
                format!(
                    "read_share + trim_share must be at most 1, got {}",
                    read_share + trim_share
                ),
                "reduce one of them; the rest of the requests are writes",
            );
            return None;
        }
        if trim_then_write && trim_share < 1.0 {
            table.error(
                "trim_then_write",
                "`trim_then_write` needs `trim_share = 1.0`: each trim is followed by a write",
                "set trim_share = 1.0, or remove `trim_then_write`",
            );
            return None;
        }
        Some(Mix { read_share, trim_share, trim_then_write })
    }
}

/// A distribution of addresses, or zones of a number of bytes.
fn places(table: &Reader<'_>, key: &str) -> Option<Places> {
    let zoned = table.is_table(key) && table.table(key).has("zones");
    if !zoned {
        return address::read(table, key).map(Places::Choice);
    }
    let choice = table.table(key);
    let listed = choice.tables("zones");
    choice.finish();
    let mut zones = Vec::new();
    let mut sum = 0.0;
    for item in listed? {
        let bytes = item.required("bytes", item.bytes("bytes"), "the length, as in \"1 GiB\"");
        let share = item.part("requests", 0.0..=1.0);
        let share = item.required("requests", share, "the share of the requests that go there");
        item.finish();
        let zone = Zone { bytes: bytes?, requests: share? };
        sum += zone.requests;
        zones.push(zone);
    }
    if (sum - 1.0).abs() > TOLERANCE {
        choice.error(
            "zones",
            format!("the shares of the zones must add up to 1, got {sum:.6}"),
            "change the shares so that they add up to 1",
        );
        return None;
    }
    Some(Places::Zones(zones))
}

fn paces(table: &Reader<'_>) -> Option<[RateCap; 3]> {
    let iops = by_kind(table, "iops", |key| table.u64(key, 1..=1_000_000_000));
    let rates = by_kind(table, "rate", |key| {
        let rate = table.rate(key)?;
        if rate.is_zero() {
            table.error(key, "a rate must be finite", "write for example \"100 MB/s\"");
            return None;
        }
        Some(rate)
    });
    let (iops, rates) = (iops?, rates?);
    Some([0, 1, 2].map(|kind| RateCap { iops: iops[kind], rate: rates[kind] }))
}

/// Values of a job that do not go together.
fn check(table: &Reader<'_>, plan: &JobPlan) -> Option<()> {
    let align = plan.align_bytes;
    if align == 0 || !align.is_multiple_of(512) {
        table.error(
            "align",
            format!("align must be a multiple of 512 B, got {align} B"),
            "write for example align = \"4 KiB\"",
        );
        return None;
    }
    let (largest, smallest) = plan.sizes_range();
    let uniform = Places::Choice(AddressChoice::Uniform);
    let is_plain = plan.places.iter().all(|places| *places == uniform);
    walk::check(table, plan, is_plain)?;
    let is_random = plan.random_share == [1.0; 3];
    let is_of_one_size = largest == smallest && is_random || plan.passes.is_some();
    if plan.once && !(is_of_one_size && smallest == align && is_plain) {
        table.error(
            "once",
            "`once` needs requests of one size, which is the alignment, and uniform random \
             addresses",
            "remove `once`, or the other sizes and addresses, `align` and `random_share`, or add \
             passes = \"new\", with which sizes may differ",
        );
        return None;
    }
    sprandom::check(table, plan, largest == smallest && smallest == align, is_plain)?;
    if plan.poisson && plan.paces.iter().all(|pace| pace.iops.is_none()) {
        table.error(
            "poisson",
            "`poisson` needs `iops`: it makes the gaps of this rate exponential",
            "add for example iops = 1000, or remove `poisson`",
        );
        return None;
    }
    Some(())
}

/// The files of the jobs must fit the drive.
pub fn check_fit(table: &Reader<'_>, jobs: &JobsPlan, plan: &Plan) {
    let page_bytes = u64::from(plan.geometry.shape.page_bytes);
    let drive_bytes = u64::from(plan.geometry.exported_pages) * page_bytes;
    let layout = match Layout::new(jobs, drive_bytes, page_bytes) {
        Ok(layout) => layout,
        Err(misfit) => return misfits(table, jobs, &misfit, drive_bytes),
    };
    for span in &layout.spans {
        let job = &jobs.jobs[span.job];
        sprandom::check_fit(table, job, span);
        for places in &job.places {
            let Places::Zones(zones) = places else { continue };
            let sum = zones.iter().map(|zone| zone.bytes as f64 * jobs.scale).sum::<f64>();
            if sum > span.bytes as f64 * (1.0 + TOLERANCE) {
                return table.error(
                    "job",
                    format!(
                        "the zones of job \"{}\" are {sum:.0} bytes, but it works on {} bytes",
                        job.name, span.bytes
                    ),
                    "make the zones smaller or `span` larger",
                );
            }
        }
    }
}

fn misfits(table: &Reader<'_>, jobs: &JobsPlan, misfit: &Misfit, drive_bytes: u64) {
    let (message, help) = match *misfit {
        Misfit::Clones(clones) => (
            format!("the jobs have {clones} clones together, but {CLONES_MAX} are possible"),
            "reduce `clones`, and give each clone a larger `depth`".to_string(),
        ),
        Misfit::Small { job, bytes } => (
            format!(
                "job \"{}\" has requests of {} bytes, but works on {bytes} bytes",
                jobs.jobs[job].name,
                jobs.jobs[job].least_part_bytes()
            ),
            "make the requests smaller or `span` larger, or reduce `offset`".to_string(),
        ),
        Misfit::NoSize(job) => (
            format!("job \"{}\" has no size for its file", jobs.jobs[job].name),
            "give it `span`, as in span = \"1 GiB\", or file = \"drive\"".to_string(),
        ),
        Misfit::Large(bytes) => {
            // Rounded down, with room for the rounding of each file.
            let scale = drive_bytes as f64 / bytes as f64 * jobs.scale * 0.99;
            let digits = libm::pow(10.0, 2.0 - libm::floor(libm::log10(scale)));
            let scale = libm::floor(scale * digits) / digits;
            (
                format!(
                    "the files of the jobs need {bytes} bytes, but the user capacity is \
                     {drive_bytes} bytes"
                ),
                format!(
                    "use a larger drive (--device, device.blocks_per_plane), or shrink all files: \
                     workload.jobs.scale = {scale}"
                ),
            )
        }
    };
    table.error("job", message, help);
}
