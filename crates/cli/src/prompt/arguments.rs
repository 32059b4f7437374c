//! What was typed behind a command, put where its page says: `$ARGUMENTS` is all of it, `$1` to `$9`
//! are its words. What is put there is not read again.

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod arguments_tests;

/// All that was typed.
const ALL: &str = "ARGUMENTS";

/// The page with the arguments in their places; below it, if it has none for them.
pub(crate) fn fill(page: &str, typed: &str) -> String {
    let words = words(typed);
    let mut filled = String::with_capacity(page.len() + typed.len());
    let mut used = false;
    let mut rest = page;
    while let Some((before, after)) = rest.split_once('$') {
        filled.push_str(before);
        let (put, behind) = match place(after) {
            Some((Place::All, behind)) => (typed, behind),
            Some((Place::Word(at), behind)) => {
                (words.get(at).map(String::as_str).unwrap_or_default(), behind)
            }
            None => {
                filled.push('$');
                rest = after;
                continue;
            }
        };
        used = true;
        filled.push_str(put);
        rest = behind;
    }
    filled.push_str(rest);
    if used || typed.is_empty() { filled } else { format!("{filled}\n\n{typed}") }
}

enum Place {
    All,
    /// Counted from 0.
    Word(usize),
}

/// The place that a dollar sign begins, and what follows it.
fn place(after: &str) -> Option<(Place, &str)> {
    if let Some(behind) = after.strip_prefix(ALL) {
        return Some((Place::All, behind));
    }
    let digit = after.chars().next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let behind = after.get(1..)?;
    // `$10` is an amount of money, not the first word and a zero.
    let ends = !behind.starts_with(|c: char| c.is_ascii_digit());
    let at = usize::try_from(digit).ok()?.checked_sub(1)?;
    ends.then_some((Place::Word(at), behind))
}

/// Words are separated by blanks; quotes hold some together.
fn words(typed: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in typed.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) if word.as_ref().is_none_or(String::is_empty) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
