//! Parts of a configuration that exclude another part of it.

use flashgc_config::Reader;

/// A key that cannot be combined with another part.
pub struct Refused {
    is_used: bool,
    key: &'static str,
    why: &'static str,
    /// The assignment that removes the conflict; without a value the key goes.
    remedy: (&'static str, Option<&'static str>),
}

/// A key, and its value that works: none where the key is to be removed.
pub type At = (&'static str, Option<&'static str>);

/// A key that is refused where it is used, for this reason.
pub fn refused(is_used: bool, at: At, why: &'static str) -> Refused {
    Refused { is_used, key: at.0, why, remedy: at }
}

impl Refused {
    /// Another key than the refused one removes the conflict.
    pub fn remedied_by(self, remedy: At) -> Refused {
        Refused { remedy, ..self }
    }
}

/// Notes an error for the first of the rows that is used, and returns `None` if there is one. `by`
/// is the assignment that excludes it, `instead` the other remedy.
pub fn refuse(
    root: &Reader<'_>,
    rows: impl IntoIterator<Item = Refused>,
    by: &str,
    instead: &str,
) -> Option<()> {
    let Some(found) = rows.into_iter().find(|row| row.is_used) else { return Some(()) };
    let (key, value) = found.remedy;
    let help = match value {
        Some(value) => format!("set {key} = {value}, or {instead}"),
        None => format!("remove {key}, or {instead}"),
    };
    let mut path: Vec<&str> = found.key.split('.').collect();
    let last = path.pop().expect("a key has a name");
    let table = path[1..].iter().fold(root.table(path[0]), |table, name| table.table(name));
    table.error(last, format!("{by}: {}", found.why), help);
    match value {
        Some(value) => root.remedy(key, value.trim_matches('"')),
        None => root.remedy_without(key),
    }
    None
}
