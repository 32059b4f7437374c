//! Times like `2026-11-15T09:00:00Z`, with which rate limit headers give their reset.

use windlass_core::log::ids::UnixMillis;

use crate::error::retry_after::{DAY_SECONDS, days_since_1970, parse_time_of_day};

/// Parses a time in UTC; fractions of a second are ignored.
pub(crate) fn parse_rfc3339(text: &str) -> Option<UnixMillis> {
    let (date, time) = text.trim().split_once('T')?;
    let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00"))?;
    let time = time.split_once('.').map_or(time, |(whole, _)| whole);
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month = month.parse::<usize>().ok()?.checked_sub(1).filter(|month| *month < 12)?;
    let days = days_since_1970(year.parse().ok()?, month, day.parse().ok()?)?;
    let seconds = days.checked_mul(DAY_SECONDS)?.checked_add(parse_time_of_day(time)?)?;
    Some(UnixMillis(seconds.checked_mul(1_000)?))
}
