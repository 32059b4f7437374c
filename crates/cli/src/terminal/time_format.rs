//! Time formats: local time (`TZ`, else the machine's zone) for people, always with its offset, so
//! that logs of several machines stay comparable; UTC for programs.

use std::path::Path;
use std::sync::OnceLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass::core::log::ids::UnixMillis;

/// The local time zone.
fn local_zone() -> &'static TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    ZONE.get_or_init(|| {
        let named = std::env::var("TZ").ok().and_then(|name| named_zone(&name));
        named.unwrap_or_else(|| TimeZone::try_system().unwrap_or(TimeZone::UTC))
    })
}

/// The folders in which systems keep their time zones.
const ZONE_FOLDERS: [&str; 3] =
    ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo"];

/// Returns the zone with a name such as `Europe/Berlin`, from the files of the system.
fn named_zone(name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    let is_name = !name.split('/').any(|part| matches!(part, "" | "." | ".."));
    let folders = ZONE_FOLDERS.iter().filter(|_| is_name);
    folders.map(|folder| Path::new(folder).join(name)).find_map(|file| read_zone(&file))
}

fn read_zone(file: &Path) -> Option<TimeZone> {
    TimeZone::tzif(&file.to_string_lossy(), &std::fs::read(file).ok()?).ok()
}

/// Formats a timestamp: `2026-11-15 12:30:42 +01:00`.
pub(crate) fn format_timestamp(at: UnixMillis) -> String {
    format_timestamp_in(local_zone(), at)
}

fn format_timestamp_in(zone: &TimeZone, at: UnixMillis) -> String {
    to_zoned(zone, at)
        .map_or_else(|| format_iso(at), |local| local.strftime("%Y-%m-%d %H:%M:%S %:z").to_string())
}

/// Formats the day: `2026-11-15`.
pub(crate) fn format_local_date(at: UnixMillis) -> String {
    to_zoned(local_zone(), at)
        .map_or_else(|| format_iso(at), |local| local.strftime("%Y-%m-%d").to_string())
}

/// Formats the time of day: `12:30:42`, where a heading has the day and the zone.
pub(crate) fn format_clock(at: UnixMillis) -> String {
    to_zoned(local_zone(), at)
        .map_or_else(|| format_iso(at), |local| local.strftime("%H:%M:%S").to_string())
}

/// Formats the offset of the zone at that time: `+01:00`.
pub(crate) fn format_offset(at: UnixMillis) -> String {
    to_zoned(local_zone(), at)
        .map_or_else(|| "UTC".to_owned(), |local| local.strftime("%:z").to_string())
}

/// Converts to a zoned time; `None` for a time outside the range of the calendar.
fn to_zoned(zone: &TimeZone, at: UnixMillis) -> Option<jiff::Zoned> {
    let ms = i64::try_from(at.0).ok()?;
    Some(Timestamp::from_millisecond(ms).ok()?.to_zoned(zone.clone()))
}

/// Formats a timestamp for programs: `2026-11-15T12:30:42.123Z`. A time after the last day of the
/// calendar is shown as that day.
pub(crate) fn format_iso(at: UnixMillis) -> String {
    to_zoned(&TimeZone::UTC, at)
        .unwrap_or_else(|| Timestamp::MAX.to_zoned(TimeZone::UTC))
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

/// Formats a duration.
pub(crate) fn format_duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds}.{} s", ms % 1_000 / 100),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
#[path = "time_format_tests.rs"]
mod time_format_tests;
