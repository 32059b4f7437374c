//! Numbers as people read them.

/// `12345` as `12,345`.
pub(crate) fn grouped(number: u64) -> String {
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

/// Micro-dollars as dollars, to a hundredth of a cent.
pub(crate) fn dollars(usd_micros: u64) -> String {
    format!("${}.{:04}", usd_micros / 1_000_000, usd_micros % 1_000_000 / 100)
}

/// A share in per cent, rounded to two digits; nothing of nothing is nothing.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    let (part, whole) = (part as u128 * 10_000, whole as u128);
    let basis_points = (part + whole / 2).checked_div(whole).unwrap_or(0);
    format!("{}.{:02} %", basis_points / 100, basis_points % 100)
}

/// Bytes in the unit that fits.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => format!("{}.{} {unit}", count / size, count % size * 10 / size),
        None => counted(count, "byte"),
    }
}

/// `1 round`, `2 rounds`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    counted_of(count, thing, &format!("{thing}s"))
}

/// `1 entry`, `2 entries`.
pub(crate) fn counted_of(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

#[cfg(test)]
#[path = "numbers_tests.rs"]
mod numbers_tests;
