//! The `retry-after` header: seconds, an HTTP date, or something invalid.

use windlass_core::log::ids::UnixMillis;

const MONTHS: &[&str] =
    &["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The number of seconds of a day.
pub(crate) const DAY_SECONDS: u64 = 86_400;

/// Parses how long to wait from `now`. A date that has passed means no wait; a value that is
/// neither a number nor a date is ignored.
pub fn parse_retry_after_ms(header: &str, now: UnixMillis) -> Option<u64> {
    let header = header.trim();
    match parse_digits(header) {
        Some(seconds) => Some(seconds.saturating_mul(1_000)),
        None => parse_http_date(header).map(|date| date.ms_since(now)),
    }
}

/// Parses `Wed, 21 Oct 2015 07:28:00 GMT`, the one form that servers may send today.
fn parse_http_date(text: &str) -> Option<UnixMillis> {
    let (_weekday, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let mut part = || parts.next();
    let (day, month, year, time) = (part()?, part()?, part()?, part()?);
    if part() != Some("GMT") || part().is_some() {
        return None;
    }
    let month = MONTHS.iter().position(|name| *name == month)?;
    let days = days_since_1970(parse_digits(year)?, month, parse_digits(day)?)?;
    let seconds = days.checked_mul(DAY_SECONDS)?.checked_add(parse_time_of_day(time)?)?;
    Some(UnixMillis(seconds.checked_mul(1_000)?))
}

/// Parses `07:28:00` as seconds since midnight.
pub(crate) fn parse_time_of_day(text: &str) -> Option<u64> {
    let (hours, rest) = text.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let (hours, minutes, seconds) =
        (parse_digits(hours)?, parse_digits(minutes)?, parse_digits(seconds)?);
    // 60 is a leap second.
    let is_a_time = hours < 24 && minutes < 60 && seconds <= 60;
    is_a_time.then_some(hours * 3_600 + minutes * 60 + seconds)
}

/// Days since 1 January 1970; months count from 0.
pub(crate) fn days_since_1970(year: u64, month: usize, day: u64) -> Option<u64> {
    let is_a_year = (1970..=9999).contains(&year);
    let is_a_day = day >= 1 && day <= days_in_month(year, month);
    if !is_a_year || !is_a_day {
        return None;
    }
    let years = (1970..year).map(|year| if is_leap_year(year) { 366 } else { 365 }).sum::<u64>();
    let months = (0..month).map(|month| days_in_month(year, month)).sum::<u64>();
    Some(years + months + day - 1)
}

fn days_in_month(year: u64, month: usize) -> u64 {
    match month {
        1 if is_leap_year(year) => 29,
        1 => 28,
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    }
}

fn is_leap_year(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Parses plain digits: a sign is invalid here.
fn parse_digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
