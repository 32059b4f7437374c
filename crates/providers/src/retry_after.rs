//! The `retry-after` header: seconds, an HTTP date, or nonsense.

use windlass_core::ids::Millis;

const MONTHS: &[&str] =
    &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds of a day.
pub(crate) const DAY_SECONDS: u64 = 86_400;

/// How long to wait from `now`. A date that has passed means not at all; what is neither a number
/// nor a date says nothing.
pub(crate) fn wait_ms(header: &str, now: Millis) -> Option<u64> {
    let header = header.trim();
    match number(header) {
        Some(seconds) => Some(seconds.saturating_mul(1_000)),
        None => date(header).map(|date| date.since(now)),
    }
}

/// `Wed, 21 Oct 2015 07:28:00 GMT`, the one form servers may send today.
fn date(text: &str) -> Option<Millis> {
    let (_weekday, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let mut part = || parts.next();
    let (day, month, year, time) = (part()?, part()?, part()?, part()?);
    if part() != Some("GMT") || part().is_some() {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)?;
    let days = days_since_1970(number(year)?, month, number(day)?)?;
    let seconds = days.checked_mul(DAY_SECONDS)?.checked_add(time_of_day(time)?)?;
    Some(Millis(seconds.checked_mul(1_000)?))
}

/// Seconds since midnight of `07:28:00`.
pub(crate) fn time_of_day(text: &str) -> Option<u64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (hours, minutes, seconds) = (number(hours)?, number(minutes)?, number(seconds)?);
    // 60 is a leap second.
    let is_a_time = hours < 24 && minutes < 60 && seconds <= 60;
    is_a_time.then_some(hours * 3_600 + minutes * 60 + seconds)
}

/// Days from 1 January 1970; months count from 0.
pub(crate) fn days_since_1970(year: u64, month: usize, day: u64) -> Option<u64> {
    let is_a_year = (1970..=9999).contains(&year);
    let is_a_day = day >= 1 && day <= days_in(year, month);
    if !is_a_year || !is_a_day {
        return None;
    }
    let years = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum::<u64>();
    let months = (0..month).map(|month| days_in(year, month)).sum::<u64>();
    Some(years + months + day - 1)
}

fn days_in(year: u64, month: usize) -> u64 {
    match month {
        1 if is_leap(year) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Plain digits: a sign is nonsense here.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
