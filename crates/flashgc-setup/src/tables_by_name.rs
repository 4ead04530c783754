//! Tables that a name was given for: a device has its name in `device.preset`, and a scheme in
//! `gc.scheme`. Without this, each key of the device that is missing would be an error of its own.

use flashgc_config::{Diagnostic, Diagnostics, Tree};

/// Table, the key of a name in it, and the words that were taken for that key.
const NAMED: [(&str, &str, &[&str]); 2] =
    [("device", "preset", &["base", "device", "name"]), ("gc", "scheme", &["base", "preset"])];

/// One error where a name is in place of a table, or below another key.
pub fn check(top: &Tree) -> Result<(), Diagnostics> {
    for (table, key, others) in NAMED {
        let whole = top.str_at(&[table]).map(|(name, place)| {
            (format!("`{table}` is a table, and got the name {name:?}"), table.into(), name, place)
        });
        let below = |other: &&str| {
            let (name, place) = top.str_at(&[table, other])?;
            let message = format!("unknown key `{other}` in [{table}]");
            Some((message, format!("{table}.{other}"), name, place))
        };
        let others = if top.has(&[table, key]) { &[] } else { others };
        let Some((message, wrong, name, place)) = whole.or_else(|| others.iter().find_map(below))
        else {
            continue;
        };
        return Err(Diagnostic {
            place: Some(place),
            key: Some(wrong),
            help: Some(format!("write {table}.{key} = {name:?}")),
            ..Diagnostic::new(message)
        }
        .into());
    }
    Ok(())
}
