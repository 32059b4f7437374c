//! `$'…'`: ANSI-C quotes, in which backslashes escape characters.

/// Decodes the text between the quotes; `None` if an escape is unknown, or gives a character that
/// no word can contain.
pub(crate) fn decode_ansi_quotes(inside: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => return None,
            '\\' => text.push(read_escape(&mut rest)?),
            c => text.push(c),
        }
    }
    Some(text)
}

fn read_escape(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        't' => Some('\t'),
        c @ ('\\' | '\'' | '"' | '?') => Some(c),
        'x' => read_number(rest, 16, 2).filter(char::is_ascii),
        'u' => read_number(rest, 16, 4),
        c @ '0'..='7' => read_octal(c, rest).filter(char::is_ascii),
        _ => None,
    }
}

fn read_octal(first: char, rest: &mut std::str::Chars<'_>) -> Option<char> {
    let mut value = first.to_digit(8)?;
    for _ in 0..2 {
        let Some(digit) = rest.clone().next().and_then(|c| c.to_digit(8)) else { break };
        value = value * 8 + digit;
        rest.next();
    }
    allowed_char(value)
}

fn read_number(rest: &mut std::str::Chars<'_>, base: u32, limit: usize) -> Option<char> {
    let digits: String = rest.clone().take(limit).take_while(|c| c.is_digit(base)).collect();
    for _ in digits.chars() {
        rest.next();
    }
    allowed_char(u32::from_str_radix(&digits, base).ok()?)
}

/// Returns the character, unless it is a control character: those other than these two only serve
/// to hide something.
fn allowed_char(value: u32) -> Option<char> {
    char::from_u32(value).filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
}
