//! The nearest valid word to a misspelt one.

/// The option nearest to `word`, if one is near enough to be the intended one.
///
/// Case and the choice of `-` or `_` do not count as differences.
pub fn nearest<'o>(word: &str, options: &[&'o str]) -> Option<&'o str> {
    let word = plain(word);
    // A word this long is not a misspelling, and edit distance is quadratic.
    if word.chars().count() > 100 {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for &option in options {
        let other = plain(option);
        let distance = strsim::damerau_levenshtein(&word, &other);
        let longer = word.chars().count().max(other.chars().count());
        let near = distance <= (longer / 3).max(1) && distance < longer;
        let alike = longer > 3 && strsim::jaro_winkler(&word, &other) > 0.9;
        if (near || alike) && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, option));
        }
    }
    best.map(|(_, option)| option)
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// The help for a word that is not among `options`.
pub(crate) fn help(word: &str, options: &[&str], kind: &str) -> String {
    match nearest(word, options) {
        Some(option) => format!("did you mean `{option}`?"),
        None if options.is_empty() => format!("no {kind} is valid here; remove it"),
        None => {
            let quoted: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
            format!("valid {kind}s: {}", quoted.join(", "))
        }
    }
}
