//! Time and memory of this process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

static PEAK_KB: AtomicU64 = AtomicU64::new(0);

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn current_time() -> Instant {
    Instant::now()
}

/// CPU time of the whole process so far.
pub(crate) fn cpu_ms() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 * 1e3 + spent.tv_nsec as f64 / 1e6
}

/// Current resident memory.
pub(crate) fn resident_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or_default()
}

/// Tracks the peak of the memory from now on.
#[expect(clippy::disallowed_methods, reason = "a benchmark looks again and again")]
pub(crate) async fn track_peak_memory() {
    PEAK_KB.store(0, Ordering::Relaxed);
    loop {
        PEAK_KB.fetch_max(resident_kb(), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// The tracked peak.
pub(crate) fn peak_kb() -> u64 {
    PEAK_KB.load(Ordering::Relaxed)
}

pub(crate) fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}
