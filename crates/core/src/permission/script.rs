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
    let is_address = |c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | ' ' | '!');
    let rest = script.trim_start_matches(is_address);
    let mut letters = rest.chars();
    match letters.next()? {
        'p' | 'd' | 'q' | '=' => Some(letters.as_str()),
        's' => substitution(letters.as_str()),
        _ => None,
    }
}

/// `s/a/b/g` with any sign for the slash. Flags that write or run are not among those taken.
fn substitution(text: &str) -> Option<&str> {
    let mut rest = text.chars();
    let sign = rest.next().filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
    let mut signs = 0;
    while signs < 2 {
        match rest.next()? {
            '\n' => return None,
            '\\' => drop(rest.next()?),
            c if c == sign => signs += 1,
            _ => {}
        }
    }
    let is_flag = |c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I');
    Some(rest.as_str().trim_start_matches(is_flag))
}

/// Whether an `awk` word holds nothing with which a program writes files or runs others.
pub(super) fn is_plain_awk(word: &str) -> bool {
    const HARMFUL: &[&str] = &["system", "|", ">", "getline", "@", "close", "printf -", "\\"];
    !HARMFUL.iter().any(|harmful| word.contains(harmful))
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
