//! Ages and durations, as people read and type them.

/// Time units as they are typed, with their milliseconds.
const TIME_UNITS: [(&str, u64); 9] = [
    ("s", 1_000),
    ("sec", 1_000),
    ("m", 60_000),
    ("min", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
    ("day", 86_400_000),
    ("days", 86_400_000),
    ("w", 604_800_000),
];

/// Parses a typed duration to milliseconds: `30min`, `2h`, `3d`, `1w`.
pub(crate) fn parse_duration_ms(typed: &str) -> Result<u64, String> {
    let typed = typed.trim();
    let digits = typed.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = typed.split_at_checked(digits).unwrap_or_default();
    let unit = TIME_UNITS.iter().find(|(name, _)| *name == unit.trim());
    match (number.parse::<u64>(), unit) {
        (Ok(number), Some((_, ms))) => Ok(number.saturating_mul(*ms)),
        _ => Err("give a number and a unit: 30min, 2h, 3d, 1w".to_owned()),
    }
}

/// Formats an age in one unit.
pub(crate) fn format_age(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
#[path = "age_tests.rs"]
mod age_tests;
