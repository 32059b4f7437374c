//! Times in messages: ISO 8601 in UTC with milliseconds.

use jiff::Timestamp;
use windlass_core::log::ids::UnixMillis;

/// Formats a time as `2026-11-18T05:30:00.000Z`. A time beyond the calendar is its last moment.
#[must_use]
pub fn format_iso_time(at: UnixMillis) -> String {
    let millis = i64::try_from(at.0).unwrap_or(i64::MAX);
    let time = Timestamp::from_millisecond(millis).unwrap_or(Timestamp::MAX);
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
