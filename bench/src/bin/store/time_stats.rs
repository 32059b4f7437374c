//! Time for measurements.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn current_time() -> Instant {
    Instant::now()
}

/// CPU time of the whole process so far.
pub(crate) fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(spent.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(spent.tv_nsec).unwrap_or_default())
}
