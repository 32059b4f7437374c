//! Wildcards: `*` stands for any characters, `?` for one.

use std::str::Chars;

/// Returns whether the whole text matches the pattern.
pub(super) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to continue after the last star, if what follows it does not match here.
    let mut star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        match (pattern.next(), text.clone().next()) {
            (Some('*'), _) => star = Some((pattern.clone(), text.clone())),
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => drop(text.next()),
            _ => match extend_last_star(&mut star) {
                Some(again) => (pattern, text) = again,
                None => return false,
            },
        }
    }
}

/// Lets the last star match one more character.
fn extend_last_star<'a>(
    star: &mut Option<(Chars<'a>, Chars<'a>)>,
) -> Option<(Chars<'a>, Chars<'a>)> {
    let (_, text) = star.as_mut()?;
    text.next()?;
    star.clone()
}
