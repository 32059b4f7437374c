//! Arguments of custom commands: `$ARGUMENTS` is all of them, `$1` to `$9` are single words.
//! Inserted text is not expanded again.

#[cfg(test)]
#[path = "command_arguments_tests.rs"]
mod command_arguments_tests;

/// The placeholder for all arguments.
const ALL_ARGUMENTS: &str = "ARGUMENTS";

/// Inserts the arguments at their placeholders; without any, below the page.
pub(crate) fn fill_arguments(page: &str, typed: &str) -> String {
    let words = split_words(typed);
    let mut filled = String::with_capacity(page.len() + typed.len());
    let mut used = false;
    let mut rest = page;
    while let Some((before, after)) = rest.split_once('$') {
        filled.push_str(before);
        let (put, behind) = match parse_placeholder(after) {
            Some((Placeholder::All, behind)) => (typed, behind),
            Some((Placeholder::Word(at), behind)) => {
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

enum Placeholder {
    All,
    /// A single word, counted from 0.
    Word(usize),
}

/// Parses a placeholder after a dollar sign, and returns what follows it.
fn parse_placeholder(after: &str) -> Option<(Placeholder, &str)> {
    if let Some(behind) = after.strip_prefix(ALL_ARGUMENTS) {
        return Some((Placeholder::All, behind));
    }
    let digit = after.chars().next()?.to_digit(10).filter(|digit| *digit > 0)?;
    let behind = after.get(1..)?;
    // `$10` is an amount of money, not the first word and a zero.
    let ends = !behind.starts_with(|c: char| c.is_ascii_digit());
    let at = usize::try_from(digit).ok()?.checked_sub(1)?;
    ends.then_some((Placeholder::Word(at), behind))
}

/// Splits words at spaces; quotes group some.
fn split_words(typed: &str) -> Vec<String> {
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
