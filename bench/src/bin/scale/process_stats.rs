//! Time and memory of this process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windlass_bench::time_stats;

static PEAK_KB: AtomicU64 = AtomicU64::new(0);

/// CPU time of the whole process so far.
pub(crate) fn cpu_ms() -> f64 {
    time_stats::cpu_time().as_secs_f64() * 1e3
}

/// Current resident memory.
pub(crate) fn resident_kb() -> u64 {
    time_stats::memory_kb("self", "VmRSS").unwrap_or_default()
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
