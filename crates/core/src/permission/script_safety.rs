//! Recognises `sed` and `awk` scripts that neither write files nor run programs. Only the plainest
//! ones are recognised; all others need approval.

/// Returns whether a `sed` script consists of printing, deleting, quitting and substituting alone.
pub(super) fn is_harmless_sed(script: &str) -> bool {
    let mut rest = script.trim();
    while !rest.is_empty() {
        let Some(after) = skip_sed_command(rest) else { return false };
        rest = after.trim_start();
        match rest.strip_prefix([';', '\n']) {
            Some(next) => rest = next.trim_start(),
            None if rest.is_empty() => {}
            None => return false,
        }
    }
    true
}

/// Skips one command with its address and returns the rest.
fn skip_sed_command(script: &str) -> Option<&str> {
    let mut letters = skip_address(script)?.chars();
    match letters.next()? {
        'p' | 'd' | 'q' | '=' | 'P' | 'D' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' => {
            Some(letters.as_str())
        }
        's' => skip_substitution(letters.as_str()),
        _ => None,
    }
}

/// Skips an address of lines, expressions or both and returns the rest.
fn skip_address(script: &str) -> Option<&str> {
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!' | '+' | '~');
    let mut rest = script.trim_start_matches(is_sign);
    while let Some(expression) = rest.strip_prefix('/') {
        let (_, after) = split_at_delimiter(expression, '/')?;
        rest = after.trim_start_matches(is_sign);
    }
    Some(rest)
}

/// Skips a substitution `s/a/b/g` with any delimiter. Flags that write or run something are not
/// accepted.
fn skip_substitution(text: &str) -> Option<&str> {
    let mut rest = text.chars();
    let sign = rest.next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let (_, replacement) = split_at_delimiter(rest.as_str(), sign)?;
    let (_, flags) = split_at_delimiter(replacement, sign)?;
    let is_flag = |c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I');
    Some(flags.trim_start_matches(is_flag))
}

/// Splits at the next delimiter that is not escaped. Some programs do not count a delimiter within
/// brackets, so a bracket that is open at the delimiter is not accepted.
fn split_at_delimiter(text: &str, sign: char) -> Option<(&str, &str)> {
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

/// Returns whether an `awk` word contains nothing with which a program writes files, runs others,
/// or reads files that no word names.
pub(super) fn is_harmless_awk(word: &str) -> bool {
    const HARMFUL: &[&str] =
        &["system", "|", ">", "getline", "@", "close", "printf -", "\\", "ARGV", "ARGC"];
    !HARMFUL.iter().any(|harmful| word.contains(harmful))
}

#[cfg(test)]
#[path = "script_safety_tests.rs"]
mod tests;
