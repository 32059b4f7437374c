//! The only clock of this crate: measures how long a part takes.

use std::time::{Duration, Instant};

/// Runs something and returns how long it took.
#[expect(clippy::disallowed_methods, reason = "a budget is measured in real time")]
pub(crate) fn measure_time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let value = work();
    (value, start.elapsed())
}

/// Formats a duration as `41.2 s`: always seconds, so that it can be compared with a budget at a
/// glance.
pub(crate) fn format_seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}
