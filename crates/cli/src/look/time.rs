//! Times as people read them. All of them are UTC: logs of several machines stay comparable.

use windlass::core::ids::Millis;

/// `2026-11-15 12:30:42`.
pub(crate) fn stamp(at: Millis) -> String {
    let (year, month, day) = date(at.0 / 86_400_000);
    format!("{year:04}-{month:02}-{day:02} {}", clock(at))
}

/// `2026-11-15T12:30:42.123Z`, as programs read it.
pub(crate) fn iso(at: Millis) -> String {
    let (year, month, day) = date(at.0 / 86_400_000);
    format!("{year:04}-{month:02}-{day:02}T{}.{:03}Z", clock(at), at.0 % 1_000)
}

/// `12:30:42`.
pub(crate) fn clock(at: Millis) -> String {
    let seconds = at.0 / 1_000 % 86_400;
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// How long something took.
pub(crate) fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// The civil date of a day since 1970, by Howard Hinnant's algorithm: eras of 400 years that begin
/// in March, so that the leap day is the last of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod time_tests;
