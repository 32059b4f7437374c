//! Median and tail of many durations.

use std::fmt;
use std::time::Duration;

pub(crate) struct Spread {
    sorted: Vec<Duration>,
}

impl Spread {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { sorted: times }
    }

    fn at(&self, percent: usize) -> f64 {
        let place = self.sorted.len().saturating_sub(1) * percent / 100;
        self.sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p50 {:7.3} ms  p99 {:7.3} ms", self.at(50), self.at(99))
    }
}
