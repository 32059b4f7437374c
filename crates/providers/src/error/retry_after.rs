//! Times in response headers: `retry-after`, and the resets of rate limits.

use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use windlass_core::log::ids::UnixMillis;

/// Parses the `retry-after` header: how long to wait from `now`, given in seconds or as a date. A
/// date that has passed means no wait; a value that is neither a number nor a date is ignored.
pub fn parse_retry_after_ms(header: &str, now: UnixMillis) -> Option<u64> {
    let header = header.trim();
    match parse_digits(header) {
        Some(seconds) => Some(seconds.saturating_mul(1_000)),
        None => parse_http_date(header).map(|date| date.ms_since(now)),
    }
}

/// Parses `Wed, 21 Oct 2015 07:28:00 GMT`, the one form that servers may send today.
fn parse_http_date(text: &str) -> Option<UnixMillis> {
    // A wrong day of the week is no reason to ignore the date.
    let (_weekday, date) = text.split_once(", ")?;
    let date = strtime::parse("%d %b %Y %H:%M:%S GMT", date).ok()?.to_datetime().ok()?;
    to_unix_millis(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Parses a time in RFC 3339, as rate limit headers give their reset.
pub(crate) fn parse_rfc3339(text: &str) -> Option<UnixMillis> {
    to_unix_millis(text.trim().parse().ok()?)
}

/// Converts a time since 1970; `None` for an earlier one.
fn to_unix_millis(time: Timestamp) -> Option<UnixMillis> {
    u64::try_from(time.as_millisecond()).ok().map(UnixMillis)
}

/// Parses plain digits: a sign is invalid here.
fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
