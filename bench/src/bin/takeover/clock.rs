//! Time, and how it was spread.

use std::fmt;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark looks again and again")]
pub(crate) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Figures from a busy machine say little: whoever reads them should know.
pub(crate) fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// Times that were measured.
#[derive(Debug, Default)]
pub(crate) struct Spread(Vec<Duration>);

impl Spread {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn most(&self) -> Duration {
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

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, median, most) = (self.mean(), self.median(), self.most());
        write!(f, "{} times, mean {mean:.2?}, p50 {median:.2?}, max {most:.2?}", self.0.len())
    }
}
