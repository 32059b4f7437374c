//! The clock port. Time is an input of the core; all other code gets it from here.

use super::BoxFuture;
use windlass_core::log::ids::UnixMillis;

/// A clock: wall time for records, monotonic time, and timers.
pub trait Clock: Send + Sync + 'static {
    /// Returns the wall time, as it is recorded.
    fn now(&self) -> UnixMillis;

    /// Returns monotonic time in milliseconds from an arbitrary origin, for leases and limits.
    fn monotonic_ms(&self) -> u64;

    /// Waits for `ms` milliseconds.
    fn sleep(&self, ms: u64) -> BoxFuture<'_, ()>;
}
