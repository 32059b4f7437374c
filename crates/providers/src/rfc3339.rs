//! Moments as `2026-11-15T09:00:00Z`: the way limits say when they are filled up again.

use windlass_core::ids::Millis;

use crate::retry_after::{DAY_SECONDS, days_since_1970, time_of_day};

/// Reads a moment in UTC; parts of a second are passed over.
pub(crate) fn moment(text: &str) -> Option<Millis> {
    let (date, time) = text.trim().split_once('T')?;
    let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00"))?;
    let time = time.split_once('.').map_or(time, |(whole, _)| whole);
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let month = month.parse::<usize>().ok()?.checked_sub(1).filter(|month| *month < 12)?;
    let days = days_since_1970(year.parse().ok()?, month, day.parse().ok()?)?;
    let seconds = days.checked_mul(DAY_SECONDS)?.checked_add(time_of_day(time)?)?;
    Some(Millis(seconds.checked_mul(1_000)?))
}
