//! Times as people read them: in the zone of whoever reads (`TZ`, else the machine's), always with its
//! offset, so that logs of several machines stay comparable. Programs get UTC.

use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass::core::ids::Millis;

/// The zone of whoever reads.
fn zone() -> &'static TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| TimeZone::try_system().unwrap_or(TimeZone::UTC))
}

/// `2026-11-15 12:30:42 +01:00`.
pub(crate) fn stamp(at: Millis) -> String {
    stamp_in(zone(), at)
}

fn stamp_in(zone: &TimeZone, at: Millis) -> String {
    local(zone, at)
        .map_or_else(|| iso(at), |local| local.strftime("%Y-%m-%d %H:%M:%S %:z").to_string())
}

/// `12:30:42`, below a line or in a table that says where the day and the zone are.
pub(crate) fn clock(at: Millis) -> String {
    local(zone(), at).map_or_else(|| iso(at), |local| local.strftime("%H:%M:%S").to_string())
}

/// The offset at that time: `+01:00`.
pub(crate) fn offset(at: Millis) -> String {
    local(zone(), at).map_or_else(|| "UTC".to_owned(), |local| local.strftime("%:z").to_string())
}

/// `None` for a time that no calendar has.
fn local(zone: &TimeZone, at: Millis) -> Option<jiff::Zoned> {
    let ms = i64::try_from(at.0).ok()?;
    Some(Timestamp::from_millisecond(ms).ok()?.to_zoned(zone.clone()))
}

/// `2026-11-15T12:30:42.123Z`, as programs read it.
pub(crate) fn iso(at: Millis) -> String {
    let (year, month, day) = date(at.0 / 86_400_000);
    let seconds = at.0 / 1_000 % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        at.0 % 1_000
    )
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
