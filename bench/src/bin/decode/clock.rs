//! Time for measurements.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
pub(crate) fn current_time() -> Instant {
    Instant::now()
}
