//! Crash points for the torture harness: one at every write boundary, each named, so that a test
//! can crash at all of them. Without the `faults` feature every function here is empty.

/// The names of the crash points of both databases.
pub const CRASH_POINTS: &[&str] = &[
    ENQUEUE_BEFORE,
    ENQUEUE_AFTER,
    CLAIM_BEFORE,
    CLAIM_AFTER,
    APPEND_BEFORE_COMMIT,
    APPEND_AFTER_COMMIT,
    APPEND_AFTER_REPLY,
    RELEASE_BEFORE,
    RELEASE_AFTER,
    HEARTBEAT_BEFORE,
    HEARTBEAT_AFTER,
];

/// The names of the crash points that only SQLite has.
pub const SQLITE_CRASH_POINTS: &[&str] = &[ROWS_WRITTEN];

pub(crate) const ENQUEUE_BEFORE: &str = "deliver.before";
pub(crate) const ENQUEUE_AFTER: &str = "deliver.after";
pub(crate) const CLAIM_BEFORE: &str = "claim.before";
pub(crate) const CLAIM_AFTER: &str = "claim.after";
pub(crate) const APPEND_BEFORE_COMMIT: &str = "append.before_commit";
pub(crate) const APPEND_AFTER_COMMIT: &str = "append.after_commit";
pub(crate) const APPEND_AFTER_REPLY: &str = "append.after_reply";
pub(crate) const RELEASE_BEFORE: &str = "release.before";
pub(crate) const RELEASE_AFTER: &str = "release.after";
pub(crate) const HEARTBEAT_BEFORE: &str = "beat.before";
pub(crate) const HEARTBEAT_AFTER: &str = "beat.after";
/// Deferred rows were written to their tables, and that is not committed yet.
pub(crate) const ROWS_WRITTEN: &str = "rows.written";

/// Ends the process if `WINDLASS_FAULT="name:n"` names this point and this is the n-th time.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn crash_point(_name: &str) {}

/// Returns whether `WINDLASS_BREAK=fence` asks for appends that ignore the fence.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[must_use]
pub fn is_fence_disabled() -> bool {
    false
}

/// Returns whether `WINDLASS_BREAK=lease` asks for claims that ignore whether the owner is alive.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[must_use]
pub fn is_lease_disabled() -> bool {
    false
}

/// Returns whether `WINDLASS_BREAK=sync` asks for a disk that cannot be synced.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn is_sync_failing() -> bool {
    false
}

#[cfg(feature = "faults")]
pub(crate) use crash_switch::is_sync_failing;
#[cfg(feature = "faults")]
pub use crash_switch::{crash_point, is_fence_disabled, is_lease_disabled};

#[cfg(feature = "faults")]
mod crash_switch {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct ArmedCrash {
        name: String,
        countdown: AtomicU64,
    }

    static ARMED_CRASH: LazyLock<Option<ArmedCrash>> = LazyLock::new(|| {
        let text = std::env::var("WINDLASS_FAULT").ok()?;
        let (name, nth) = text.rsplit_once(':')?;
        let countdown = AtomicU64::new(nth.parse().ok()?);
        Some(ArmedCrash { name: name.to_owned(), countdown })
    });

    static DISABLED_GUARD: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("WINDLASS_BREAK").ok());

    /// Ends the process if `WINDLASS_FAULT="name:n"` names this point and this is the n-th time.
    pub fn crash_point(name: &str) {
        let Some(armed) = ARMED_CRASH.as_ref().filter(|armed| armed.name == name) else { return };
        if armed.countdown.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }

    /// Returns whether `WINDLASS_BREAK=fence` asks for appends that ignore the fence.
    #[must_use]
    pub fn is_fence_disabled() -> bool {
        DISABLED_GUARD.as_deref() == Some("fence")
    }

    /// Returns whether `WINDLASS_BREAK=sync` asks for a disk that cannot be synced: from the second
    /// time on, so that the file can be opened.
    pub(crate) fn is_sync_failing() -> bool {
        static SYNCS: AtomicU64 = AtomicU64::new(0);
        DISABLED_GUARD.as_deref() == Some("sync") && SYNCS.fetch_add(1, Ordering::SeqCst) > 0
    }

    /// Returns whether `WINDLASS_BREAK=lease` asks for claims that ignore whether the owner is
    /// alive.
    #[must_use]
    pub fn is_lease_disabled() -> bool {
        DISABLED_GUARD.as_deref() == Some("lease")
    }
}
