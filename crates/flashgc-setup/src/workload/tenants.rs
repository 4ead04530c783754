//! `[[workload.tenants]]`: the tenants whose requests come from outside.

use super::limit;
use flashgc_config::Reader;
use flashgc_model::plan::{JobQueues, Limit};
use serde::Serialize;

/// The most tenants.
const MOST: usize = 1024;

/// A tenant of a component: its requests have its number, and it has a row in the report.
#[derive(Clone, Debug, Serialize)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// The requests that come in from its queue in its turn.
    pub weight: u32,
    /// The most that is admitted from its queue.
    pub limit: Limit,
}

/// The queues of tenants in the device.
pub fn queues(tenants: &[Tenant]) -> JobQueues {
    JobQueues {
        of_clone: (0..tenants.len() as u16).collect(),
        weights: tenants.iter().map(|tenant| tenant.weight).collect(),
        limits: tenants.iter().map(|tenant| tenant.limit).collect(),
    }
}

/// Reads the tables. Errors are noted; `None` where there is one.
pub fn read(workload: &Reader<'_>, is_live: bool) -> Option<Vec<Tenant>> {
    if !workload.has("tenants") {
        return Some(Vec::new());
    }
    let listed = workload.tables("tenants")?;
    if !is_live {
        for item in &listed {
            tenant(item);
        }
        workload.error(
            "tenants",
            "tenants issue the requests of a component, and this run has a workload of its own",
            "describe concurrent programs as jobs ([[workload.jobs.job]]), or remove the tenants \
             (--unset workload.tenants)",
        );
        return None;
    }
    if listed.len() > MOST {
        workload.error(
            "tenants",
            format!("{} tenants are more than {MOST}", listed.len()),
            "give fewer",
        );
        return None;
    }
    let tenants: Vec<Tenant> = listed.iter().map(tenant).collect::<Option<_>>()?;
    for (at, own) in tenants.iter().enumerate() {
        if tenants[..at].iter().any(|other| other.name == own.name) {
            let why = format!("two tenants have the name \"{}\"", own.name);
            listed[at].error("name", why, "give each a name of its own");
            return None;
        }
    }
    Some(tenants)
}

fn tenant(table: &Reader<'_>) -> Option<Tenant> {
    let name = table.required("name", table.string("name"), "a name, as in name = \"reader\"");
    let weight = match table.has("weight") {
        true => table.u32("weight", 1..=256),
        false => Some(1),
    };
    let limit = limit::read(table);
    table.finish();
    Some(Tenant { name: name?.to_string(), weight: weight?, limit: limit? })
}
