//! The command line.

use flashgc_histories::rules::{CANARY, RULES};
use std::path::PathBuf;

/// The arguments of the command line.
pub struct Arguments {
    /// The seed of the run.
    pub seed: u64,
    /// The number of histories; `None` is limited by the time alone.
    pub count: Option<u64>,
    /// For how long, in s.
    pub seconds: u64,
    /// The seed of a single history.
    pub one: Option<u64>,
    /// A file with a single history.
    pub file: Option<PathBuf>,
    /// The rules to check.
    pub rules: Vec<&'static str>,
    /// Histories in parallel.
    pub threads: u64,
    /// A history that takes longer counts as endless, in s.
    pub patience: u64,
    /// The folder for failures.
    pub found: PathBuf,
}

const USAGE: &str = "usage: flashgc-histories [options]
  --seed N        the seed of the run (1)
  --count N       the number of histories
  --seconds N     the length of the run (60; without a limit when --count is given)
  --one SEED      one history, as a failure names it, with its configuration
  --file FILE     one history from a file
  --rules A,B     these rules alone
  --without A,B   all rules but these
  --threads N     histories at once (2)
  --patience N    seconds after which a history counts as endless (30)
  --found FOLDER  where failures are written (target/histories/found)";

impl Arguments {
    /// From the words of the command line.
    pub fn read(words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments {
            seed: 1,
            count: None,
            seconds: 60,
            one: None,
            file: None,
            rules: RULES.iter().map(|(name, _)| *name).filter(|name| *name != CANARY).collect(),
            threads: 2,
            patience: 30,
            found: "target/histories/found".into(),
        };
        let mut seconds = None;
        let mut words = words;
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("{word} needs a value\n{USAGE}"))?;
            let number = || {
                let why = |_| format!("{word} {value}: the value is not a number\n{USAGE}");
                value.parse::<u64>().map_err(why)
            };
            match word.as_str() {
                "--seed" => arguments.seed = number()?,
                "--count" => arguments.count = Some(number()?),
                "--seconds" => seconds = Some(number()?),
                "--one" => arguments.one = Some(number()?),
                "--file" => arguments.file = Some(value.into()),
                "--rules" => arguments.rules = rules(&value)?,
                "--without" => {
                    let without = rules(&value)?;
                    arguments.rules.retain(|name| !without.contains(name));
                }
                "--threads" => arguments.threads = number()?.clamp(1, 64),
                "--patience" => arguments.patience = number()?.max(1),
                "--found" => arguments.found = value.into(),
                _ => return Err(format!("there is no option {word}\n{USAGE}")),
            }
        }
        let without_limit = if arguments.count.is_some() { u64::MAX } else { 60 };
        arguments.seconds = seconds.unwrap_or(without_limit);
        Ok(arguments)
    }
}

/// Rules by name, with commas between.
fn rules(list: &str) -> Result<Vec<&'static str>, String> {
    let find = |name: &str| {
        let known = RULES.iter().find(|(known, _)| *known == name);
        let names: Vec<&str> = RULES.iter().map(|(name, _)| *name).collect();
        known
            .map(|(name, _)| *name)
            .ok_or_else(|| format!("there is no rule {name}; the rules are {}", names.join(", ")))
    };
    list.split(',').map(find).collect()
}
