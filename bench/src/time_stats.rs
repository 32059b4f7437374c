//! Time and memory for measurements.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Returns the current monotonic time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
#[must_use]
pub fn current_time() -> Instant {
    Instant::now()
}

/// Waits on the real clock.
#[expect(clippy::disallowed_methods, reason = "a benchmark waits for what it measures")]
pub async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

/// Returns the CPU time of the whole process so far.
#[must_use]
pub fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(spent.tv_nsec).unwrap_or_default())
}

/// Returns a figure such as `VmHWM` (peak memory) of a process, in kilobytes; `process` is a number
/// or `self`. `None` once the process has ended.
#[must_use]
pub fn memory_kb(process: &str, figure: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let lines = status.lines().filter_map(|line| line.split_once(':'));
    let (_, value) = lines.into_iter().find(|(name, _)| *name == figure)?;
    value.split_whitespace().next()?.parse().ok()
}

/// Returns the load average, printed because figures of a busy machine are unreliable.
#[must_use]
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

/// Returns the median; 0 of no values.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Returns the smallest value.
#[must_use]
pub fn minimum(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
