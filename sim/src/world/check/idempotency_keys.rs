//! Checks of idempotency keys, as an outside system sees them.

use std::collections::BTreeMap;

use windlass_core::message::raw_json::RawJson;

use super::{CheckedWorld, ensure};

/// The same key means the same tool with the same arguments: a system that detects repeats by it
/// must never take one call for another.
pub(super) fn name_one_call(case: &CheckedWorld<'_>) -> Result<(), String> {
    let mut named: BTreeMap<&str, (&str, &RawJson)> = BTreeMap::new();
    for effect in &case.evidence.seen.effects {
        let this = (effect.tool, &effect.input);
        let first = *named.entry(&effect.key).or_insert(this);
        ensure(first == this, || format!("{}: {first:?} and {this:?}", effect.key))?;
    }
    Ok(())
}
