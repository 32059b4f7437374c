//! The spread of durations.

use std::fmt;
use std::time::Duration;

/// Measured durations.
#[derive(Debug, Default)]
pub(crate) struct DurationSpread(Vec<Duration>);

impl DurationSpread {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn maximum(&self) -> Duration {
        self.0.iter().max().copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn mean(&self) -> Duration {
        let count = u32::try_from(self.0.len().max(1)).unwrap_or(u32::MAX);
        self.0.iter().sum::<Duration>() / count
    }
}

impl fmt::Display for DurationSpread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, median, most) = (self.mean(), self.median(), self.maximum());
        write!(f, "{} times, mean {mean:.2?}, p50 {median:.2?}, max {most:.2?}", self.0.len())
    }
}
