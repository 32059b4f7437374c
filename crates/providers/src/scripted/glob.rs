//! Wildcards: `*` stands for any characters, `?` for one.

use std::str::Chars;

/// Whether the whole text fits the pattern.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to go on after the last star, should what follows it not fit here.
    let mut star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        match (pattern.next(), text.clone().next()) {
            (Some('*'), _) => star = Some((pattern.clone(), text.clone())),
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => drop(text.next()),
            _ => match widen(&mut star) {
                Some(again) => (pattern, text) = again,
                None => return false,
            },
        }
    }
}

/// Lets the last star swallow one more character.
fn widen<'a>(star: &mut Option<(Chars<'a>, Chars<'a>)>) -> Option<(Chars<'a>, Chars<'a>)> {
    let (_, text) = star.as_mut()?;
    text.next()?;
    star.clone()
}
