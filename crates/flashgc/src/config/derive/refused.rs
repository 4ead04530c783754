//! Parts of a configuration that exclude another part of it.

use flashgc_config::Reader;

/// A part that cannot be combined with another one.
pub struct Refused {
    /// Whether the configuration has it.
    pub is_used: bool,
    /// The table and the key.
    pub at: (&'static [&'static str], &'static str),
    /// The reason why it cannot be combined.
    pub why: &'static str,
    /// The assignment that removes it; without a value the key goes.
    pub remedy: (&'static str, Option<&'static str>),
}

/// Notes an error for the first of the rows that is used, and returns `None` if there is one. `by`
/// is the assignment that excludes it, `instead` the other remedy.
pub fn refuse<const N: usize>(
    root: &Reader<'_>,
    rows: [Vec<Refused>; N],
    by: &str,
    instead: &str,
) -> Option<()> {
    let Some(found) = rows.into_iter().flatten().find(|row| row.is_used) else { return Some(()) };
    let (path, key) = found.at;
    let table = path.iter().fold(root.table(path[0]), |table, &name| {
        if name == path[0] { table } else { table.table(name) }
    });
    let (remedied, value) = found.remedy;
    let help = match value {
        Some(value) => format!("set {remedied} = {value}, or {instead}"),
        None => format!("remove {remedied}, or {instead}"),
    };
    table.error(key, format!("{by}: {}", found.why), help);
    match value {
        Some(value) => root.remedy(remedied, value),
        None => root.remedy_without(remedied),
    }
    None
}
