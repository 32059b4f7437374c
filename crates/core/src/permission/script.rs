//! Scripts of `sed` and `awk` that can neither write a file nor run a program. Only the plainest
//! ones are recognised; any other is left to a person.

/// Whether a `sed` script consists of printing, deleting, quitting and substituting alone.
pub(super) fn is_plain_sed(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(after) = sed_command(rest) else { return false };
        rest = after.trim_start();
        match rest.strip_prefix([';', '\n']) {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => {}
            None => return false,
        }
    }
    true
}

/// Takes one command with its address; what follows it is returned.
fn sed_command(script: &str) -> Option<&str> {
    let mut letters = after_address(script)?.chars();
    match letters.next()? {
        'p' | 'd' | 'q' | '=' | 'P' | 'D' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' => {
            Some(letters.as_str())
        }
        's' => substitution(letters.as_str()),
        _ => None,
    }
}

/// What follows an address of lines, expressions or both.
fn after_address(script: &str) -> Option<&str> {
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!' | '+' | '~');
    let mut rest = script.trim_start_matches(is_sign);
    while let Some(expression) = rest.strip_prefix('/') {
        let (_, after) = until_sign(expression, '/')?;
        rest = after.trim_start_matches(is_sign);
    }
    Some(rest)
}

/// `s/a/b/g` with any sign for the slash. Flags that write or run are not among those taken.
fn substitution(text: &str) -> Option<&str> {
    let mut rest = text.chars();
    let sign = rest.next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let (_, replacement) = until_sign(rest.as_str(), sign)?;
    let (_, flags) = until_sign(replacement, sign)?;
    let is_flag = |c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I');
    Some(flags.trim_start_matches(is_flag))
}

/// The text before the next such sign that no backslash stands before, and the text after it. Some
/// programs do not count a sign within brackets, so a bracket that is open at the sign is not plain.
fn until_sign(text: &str, sign: char) -> Option<(&str, &str)> {
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '\n' => return None,
            '\\' => drop(rest.next()?),
            c if c == sign => {
                let (before, after) = (text.get(..at)?, rest.as_str());
                return has_closed_brackets(before).then_some((before, after));
            }
            _ => {}
        }
    }
    None
}

fn has_closed_brackets(text: &str) -> bool {
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once('[') {
        let inside = inside.strip_prefix('^').unwrap_or(inside);
        // A bracket that closes at once is a character of the set.
        let inside = inside.strip_prefix(']').unwrap_or(inside);
        let Some((set, after)) = inside.split_once(']') else { return false };
        // `[[:alpha:]` is still open.
        rest = match set.contains("[:") || set.contains("[.") || set.contains("[=") {
            true => match after.split_once(']') {
                Some((_, after)) => after,
                None => return false,
            },
            false => after,
        };
    }
    true
}

/// Whether an `awk` word holds nothing with which a program writes files, runs others, or reads
/// files that no word names.
pub(super) fn is_plain_awk(word: &str) -> bool {
    const HARMFUL: &[&str] =
        &["system", "|", ">", "getline", "@", "close", "printf -", "\\", "ARGV", "ARGC"];
    !HARMFUL.iter().any(|harmful| word.contains(harmful))
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
