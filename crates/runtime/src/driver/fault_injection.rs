//! Fault injection: breaks a guarantee on purpose, for the torture harness to notice. Without the
//! `faults` feature an entry is stored as the core says.

#[cfg(not(feature = "faults"))]
use windlass_core::log::entry::Entry;

/// The part of an entry that is stored.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(super) fn durable_part(entry: &Entry) -> Option<Entry> {
    entry.to_durable()
}

/// Returns whether a driver stops by itself when its lease lapsed.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(super) fn stops_on_lapse() -> bool {
    true
}

#[cfg(feature = "faults")]
pub(super) use armed::{durable_part, stops_on_lapse};

#[cfg(feature = "faults")]
mod armed {
    use std::sync::LazyLock;

    use windlass_core::log::entry::Entry;
    use windlass_core::log::record::Record;

    static BROKEN_PROMISE: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("WINDLASS_BREAK").ok());

    static ENVELOPE_IS_BROKEN: LazyLock<bool> =
        LazyLock::new(|| BROKEN_PROMISE.as_deref() == Some("envelope"));

    /// Returns whether a driver stops by itself when its lease lapsed. With `WINDLASS_BREAK=fence`
    /// it does not, and only the store's fence can stop it.
    pub(in super::super) fn stops_on_lapse() -> bool {
        BROKEN_PROMISE.as_deref() != Some("fence")
    }

    /// The part of an entry that is stored: with `WINDLASS_BREAK=envelope`, without the start of a
    /// call.
    pub(in super::super) fn durable_part(entry: &Entry) -> Option<Entry> {
        let mut stored = entry.to_durable()?;
        if *ENVELOPE_IS_BROKEN {
            stored.records.retain(|record| !matches!(record, Record::CallStarted { .. }));
        }
        (!stored.records.is_empty()).then_some(stored)
    }
}
