//! Time is an input: everybody asks this port.

use super::Task;
use windlass_core::ids::Millis;

/// Wall time for records, and waiting.
pub trait Clock: Send + Sync + 'static {
    /// Now, as it will be written down.
    fn now(&self) -> Millis;

    /// Time that only goes forward, for leases and limits, counted from an arbitrary point.
    fn monotonic_ms(&self) -> u64;

    /// Waits.
    fn sleep(&self, ms: u64) -> Task<'_, ()>;
}
