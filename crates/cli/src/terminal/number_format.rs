//! Number formats for people.

/// Formats `12345` as `12,345`.
pub(crate) fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats micro-dollars as dollars, to a hundredth of a cent.
pub(crate) fn format_dollars(usd_micros: u64) -> String {
    format!("${}.{:04}", usd_micros / 1_000_000, usd_micros % 1_000_000 / 100)
}

/// Formats a share in per cent, rounded to two digits; a share of zero is zero.
pub(crate) fn format_percent(part: usize, whole: usize) -> String {
    let (part, whole) = (part as u128 * 10_000, whole as u128);
    let basis_points = (part + whole / 2).checked_div(whole).unwrap_or(0);
    format!("{}.{:02} %", basis_points / 100, basis_points % 100)
}

/// Formats bytes in a fitting unit.
pub(crate) fn format_bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => format!("{}.{} {unit}", count / size, count % size * 10 / size),
        None => count_noun(count, "byte"),
    }
}

/// Formats a count with its noun: `1 round`, `2 rounds`.
pub(crate) fn count_noun(count: u64, thing: &str) -> String {
    count_irregular_noun(count, thing, &format!("{thing}s"))
}

/// Formats a count with an irregular plural: `1 entry`, `2 entries`.
pub(crate) fn count_irregular_noun(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", group_digits(count), if count == 1 { one } else { many })
}

#[cfg(test)]
#[path = "number_format_tests.rs"]
mod number_format_tests;
