//! A promise broken on purpose, for the torture harness to notice. Without the `faults` feature an
//! entry is stored as the core says.

#[cfg(not(feature = "faults"))]
use windlass_core::log::Entry;

/// What of an entry is stored.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(super) fn durable(entry: &Entry) -> Option<Entry> {
    entry.durable()
}

/// Whether a driver stops by itself when its lease ran out.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(super) fn heeds_lapses() -> bool {
    true
}

#[cfg(feature = "faults")]
pub(super) use armed::{durable, heeds_lapses};

#[cfg(feature = "faults")]
mod armed {
    use std::sync::LazyLock;

    use windlass_core::log::Entry;
    use windlass_core::record::Record;

    static BROKEN: LazyLock<Option<String>> =
        LazyLock::new(|| std::env::var("WINDLASS_BREAK").ok());

    static ENVELOPE_IS_BROKEN: LazyLock<bool> =
        LazyLock::new(|| BROKEN.as_deref() == Some("envelope"));

    /// With `WINDLASS_BREAK=fence` it does not: the fence is what would have to stop it.
    pub(in super::super) fn heeds_lapses() -> bool {
        BROKEN.as_deref() != Some("fence")
    }

    /// What of an entry is stored: with `WINDLASS_BREAK=envelope`, not that a call was started.
    pub(in super::super) fn durable(entry: &Entry) -> Option<Entry> {
        let mut stored = entry.durable()?;
        if *ENVELOPE_IS_BROKEN {
            stored.records.retain(|record| !matches!(record, Record::Started { .. }));
        }
        (!stored.records.is_empty()).then_some(stored)
    }
}
