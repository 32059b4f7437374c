//! Crash points for the torture harness: one at every write boundary, each named, so that a test
//! can die at all of them. Without the `faults` feature every function here is empty.

/// Every crash point there is.
pub const POINTS: &[&str] = &[
    DELIVER_BEFORE,
    DELIVER_AFTER,
    CLAIM_BEFORE,
    CLAIM_AFTER,
    APPEND_BEFORE_COMMIT,
    APPEND_AFTER_COMMIT,
    APPEND_AFTER_REPLY,
    RELEASE_BEFORE,
    RELEASE_AFTER,
    BEAT_BEFORE,
    BEAT_AFTER,
];

pub(crate) const DELIVER_BEFORE: &str = "deliver.before";
pub(crate) const DELIVER_AFTER: &str = "deliver.after";
pub(crate) const CLAIM_BEFORE: &str = "claim.before";
pub(crate) const CLAIM_AFTER: &str = "claim.after";
pub(crate) const APPEND_BEFORE_COMMIT: &str = "append.before_commit";
pub(crate) const APPEND_AFTER_COMMIT: &str = "append.after_commit";
pub(crate) const APPEND_AFTER_REPLY: &str = "append.after_reply";
pub(crate) const RELEASE_BEFORE: &str = "release.before";
pub(crate) const RELEASE_AFTER: &str = "release.after";
pub(crate) const BEAT_BEFORE: &str = "beat.before";
pub(crate) const BEAT_AFTER: &str = "beat.after";

/// Dies here if `WINDLASS_FAULT="name:n"` names this point and this is the n-th time.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub fn point(_name: &str) {}

/// Whether `WINDLASS_BREAK=fence` asks for appends that ignore the fence.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[must_use]
pub fn fence_is_broken() -> bool {
    false
}

/// Whether `WINDLASS_BREAK=lease` asks for claims that do not care whether the owner lives.
#[cfg(not(feature = "faults"))]
#[inline(always)]
#[must_use]
pub fn lease_is_broken() -> bool {
    false
}

/// Whether `WINDLASS_BREAK=sync` asks for a disk that cannot be synced.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn sync_is_broken() -> bool {
    false
}

#[cfg(feature = "faults")]
pub(crate) use armed::sync_is_broken;
#[cfg(feature = "faults")]
pub use armed::{fence_is_broken, lease_is_broken, point};

#[cfg(feature = "faults")]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Armed {
        name: String,
        countdown: AtomicU64,
    }

    static ARMED: LazyLock<Option<Armed>> = LazyLock::new(|| {
        let text = std::env::var("WINDLASS_FAULT").ok()?;
        let (name, nth) = text.rsplit_once(':')?;
        let countdown = AtomicU64::new(nth.parse().ok()?);
        Some(Armed { name: name.to_owned(), countdown })
    });

    static BROKEN: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("WINDLASS_BREAK").ok());

    /// Dies here if `WINDLASS_FAULT="name:n"` names this point and this is the n-th time.
    pub fn point(name: &str) {
        let Some(armed) = ARMED.as_ref().filter(|armed| armed.name == name) else { return };
        if armed.countdown.fetch_sub(1, Ordering::SeqCst) == 1 {
            std::process::abort();
        }
    }

    /// Whether `WINDLASS_BREAK=fence` asks for appends that ignore the fence.
    #[must_use]
    pub fn fence_is_broken() -> bool {
        BROKEN.as_deref() == Some("fence")
    }

    /// Whether `WINDLASS_BREAK=sync` asks for a disk that cannot be synced: from the second time
    /// on, so that the file can be opened.
    pub(crate) fn sync_is_broken() -> bool {
        static SYNCS: AtomicU64 = AtomicU64::new(0);
        BROKEN.as_deref() == Some("sync") && SYNCS.fetch_add(1, Ordering::SeqCst) > 0
    }

    /// Whether `WINDLASS_BREAK=lease` asks for claims that do not care whether the owner lives.
    #[must_use]
    pub fn lease_is_broken() -> bool {
        BROKEN.as_deref() == Some("lease")
    }
}
