//! Median and tail of many durations.

use std::fmt;
use std::time::Duration;

pub(crate) struct LatencySpread {
    sorted: Vec<Duration>,
}

impl LatencySpread {
    pub(crate) fn from_times(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self { sorted: times }
    }

    fn percentile(&self, percent: usize) -> f64 {
        let place = self.sorted.len().saturating_sub(1) * percent / 100;
        self.sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    }
}

impl fmt::Display for LatencySpread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p50 {:7.3} ms  p99 {:7.3} ms", self.percentile(50), self.percentile(99))
    }
}
