//! Cron expressions: minute, hour, day of the month, month, day of the week.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

#[cfg(test)]
#[path = "cron_tests.rs"]
mod cron_tests;

/// How far ahead a time is searched: more than the eight years between some leap days.
const MAX_DAYS: usize = 9 * 366;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// When something happens again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CronExpression {
    minutes: FieldValues,
    hours: FieldValues,
    days: FieldValues,
    months: FieldValues,
    weekdays: FieldValues,
}

/// The values of a field that match, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FieldValues {
    bits: u64,
    /// Whether it was given as `*`: then the other one of the two fields for days decides.
    is_any: bool,
}

/// What a field takes.
struct FieldRange {
    name: &'static str,
    first: u32,
    last: u32,
    names: &'static [&'static str],
}

impl FieldValues {
    fn contains(self, value: u32) -> bool {
        self.bits & (1 << value) != 0
    }
}

impl CronExpression {
    /// Parses five fields, or a name such as `@daily`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, for its sender.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let text = match text {
            "@hourly" => "0 * * * *",
            "@daily" | "@midnight" => "0 0 * * *",
            "@weekly" => "0 0 * * 0",
            "@monthly" => "0 0 1 * *",
            "@yearly" | "@annually" => "0 0 1 1 *",
            other => other,
        };
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return Err(format!(
                "a cron expression has five fields, minute to day of the week; this one has {}",
                fields.len()
            ));
        };
        let range = |name, first, last| FieldRange { name, first, last, names: &[] };
        let months_range = FieldRange { names: &MONTHS, ..range("month", 1, 12) };
        let weekdays_range = FieldRange { names: &WEEKDAYS, ..range("day of the week", 0, 7) };
        let mut weekdays = weekdays_range.parse(weekdays)?;
        // Sunday is 0 and 7.
        weekdays.bits |= (weekdays.bits >> 7) & 1;
        let parsed = Self {
            minutes: range("minute", 0, 59).parse(minutes)?,
            hours: range("hour", 0, 23).parse(hours)?,
            days: range("day of the month", 1, 31).parse(days)?,
            months: months_range.parse(months)?,
            weekdays,
        };
        match parsed.next_after(Timestamp::UNIX_EPOCH, &TimeZone::UTC) {
            Some(_) => Ok(parsed),
            None => Err("the cron expression never comes true".to_owned()),
        }
    }

    /// Returns the first time after `after` at which it comes true.
    pub(crate) fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let mut date = after.to_zoned(zone.clone()).date();
        for _ in 0..MAX_DAYS {
            if self.matches_day(date)
                && let Some(found) = self.first_of_day(date, after, zone)
            {
                return Some(found);
            }
            date = date.checked_add(1.day()).ok()?;
        }
        None
    }

    fn matches_day(&self, date: Date) -> bool {
        let month = u32::from(date.month().unsigned_abs());
        let day = self.days.contains(u32::from(date.day().unsigned_abs()));
        let weekday = date.weekday().to_sunday_zero_offset();
        let weekday = self.weekdays.contains(u32::from(weekday.unsigned_abs()));
        let is_day = match (self.days.is_any, self.weekdays.is_any) {
            (true, _) => weekday,
            (_, true) => day,
            // As cron does: if both are given, either may match.
            (false, false) => day || weekday,
        };
        self.months.contains(month) && is_day
    }

    fn first_of_day(&self, date: Date, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let hours = (0..24).filter(|hour: &i8| self.hours.contains(u32::from(hour.unsigned_abs())));
        let mut times = hours.flat_map(|hour| {
            let minutes = (0..60)
                .filter(|minute: &i8| self.minutes.contains(u32::from(minute.unsigned_abs())));
            minutes.filter_map(move |minute| {
                // A time that a change of the clocks leaves out is an hour later.
                Some(date.at(hour, minute, 0, 0).to_zoned(zone.clone()).ok()?.timestamp())
            })
        });
        times.find(|time| *time > after)
    }
}

impl FieldRange {
    fn parse(&self, text: &str) -> Result<FieldValues, String> {
        let mut bits = 0;
        for part in text.split(',') {
            bits |= self.parse_part(part).ok_or_else(|| {
                format!("`{part}` is not a {} ({} to {})", self.name, self.first, self.last)
            })?;
        }
        Ok(FieldValues { bits, is_any: text.starts_with('*') })
    }

    /// Parses `*`, a value or a range, each with an optional step.
    fn parse_part(&self, part: &str) -> Option<u64> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step.parse().ok().filter(|step| *step > 0)?)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.first, self.last),
            Some((first, last)) => (self.parse_value(first)?, self.parse_value(last)?),
            None if step.is_some() => (self.parse_value(range)?, self.last),
            None => (self.parse_value(range)?, self.parse_value(range)?),
        };
        let values = (first..=last).step_by(step.unwrap_or(1));
        (first <= last).then(|| values.fold(0, |bits, value| bits | (1 << value)))
    }

    fn parse_value(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = match named {
            // Months are numbered from 1, days of the week from 0.
            Some(place) => u32::try_from(place).ok()? + self.first,
            None if text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()?
            }
            None => return None,
        };
        (self.first..=self.last).contains(&value).then_some(value)
    }
}
