//! `$'…'`: quotes in which backslashes spell characters.

/// The text between the quotes with its escapes read; `None` if one of them is not known, or
/// spells something no word can hold.
pub(super) fn decode(inside: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => return None,
            '\\' => text.push(escape(&mut rest)?),
            c => text.push(c),
        }
    }
    Some(text)
}

fn escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        c @ ('\\' | '\'' | '"' | '?') => Some(c),
        'x' => number(rest, 16, 2).filter(char::is_ascii),
        'u' => number(rest, 16, 4),
        c @ '0'..='7' => octal(c, rest).filter(char::is_ascii),
        _ => None,
    }
}

fn octal(first: char, rest: &mut std::str::Chars<'_>) -> Option<char> {
    let mut value = first.to_digit(8)?;
    for _ in 0..2 {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(8)) else { break };
        value = value * 8 + digit;
        rest.next();
    }
    character(value)
}

fn number(rest: &mut std::str::Chars<'_>, base: u32, most: usize) -> Option<char> {
    let digits: String = rest.clone().take(most).take_while(|c| c.is_digit(base)).collect();
    for _ in digits.chars() {
        rest.next();
    }
    character(u32::from_str_radix(&digits, base).ok()?)
}

/// Control characters other than these two are spelled only to hide something.
fn character(value: u32) -> Option<char> {
    char::from_u32(value).filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
}
