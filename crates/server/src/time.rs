//! Times in requests, and the time now.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass::core::log::ids::UnixMillis;

use crate::problem::Problem;

/// The folder with the time zones of the system.
const ZONE_FOLDER: &str = "/usr/share/zoneinfo";

/// The longest name of a time zone.
const MAX_ZONE_CHARS: usize = 64;

/// The time now.
#[expect(clippy::disallowed_methods, reason = "tokens expire and schedules fire by the wall clock")]
pub(crate) fn now() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Parses a time in ISO 8601 with its offset, such as `2026-11-20T08:00:00Z`.
pub(crate) fn parse_time(field: &str, text: &str) -> Result<UnixMillis, Problem> {
    let parsed = text.parse::<Timestamp>().ok();
    let ms = parsed.and_then(|at| u64::try_from(at.as_millisecond()).ok());
    ms.map(UnixMillis).ok_or_else(|| {
        Problem::invalid(format!("`{field}` is not a time such as 2026-11-20T08:00:00Z"))
    })
}

/// Returns the time zone with this name; `None` if the system does not know it.
pub(crate) fn find_time_zone(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Etc/UTC" | "Z") {
        return Some(TimeZone::UTC);
    }
    // A name is a path below the folder, and leads nowhere else.
    let is_part = |part: &str| {
        let begins = part.starts_with(|c: char| c.is_ascii_alphabetic());
        begins && part.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'+'))
    };
    if name.len() > MAX_ZONE_CHARS || !name.split('/').all(is_part) {
        return None;
    }
    let data = std::fs::read(std::path::Path::new(ZONE_FOLDER).join(name)).ok()?;
    TimeZone::tzif(name, &data).ok()
}
