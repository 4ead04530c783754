//! Tables that a name was given for: a device has its name in `device.preset`, and a scheme in
//! `gc.scheme`. Without this, each key of the device that is missing would be an error of its own.

use flashgc_config::{Diagnostic, Diagnostics, Place, Tree};

/// Table, the key of a name in it, and the words that were taken for that key.
const NAMED: [(&str, &str, &[&str]); 2] =
    [("device", "preset", &["base", "device", "name"]), ("gc", "scheme", &["base", "preset"])];

/// One error where a name is in place of a table, or below another key.
pub fn check(top: &Tree) -> Result<(), Diagnostics> {
    for (table, key, others) in NAMED {
        if let Some((name, place)) = top.str_at(&[table]) {
            let message = format!("`{table}` is a table, and got the name {name:?}");
            let help = format!("write {table}.{key} = {name:?}");
            return Err(wrong(message, place, table.into(), help).into());
        }
        let at = |other| top.str_at(&[table, other]).map(|(name, place)| (other, name, place));
        let found = others.iter().copied().find_map(at);
        if let Some((other, name, place)) = found.filter(|_| !top.has(&[table, key])) {
            let message = format!("unknown key `{other}` in [{table}]");
            let help = format!("write {table}.{key} = {name:?}");
            return Err(wrong(message, place, format!("{table}.{other}"), help).into());
        }
    }
    Ok(())
}

fn wrong(message: String, place: Place, key: String, help: String) -> Diagnostic {
    Diagnostic { place: Some(place), key: Some(key), help: Some(help), ..Diagnostic::new(message) }
}
