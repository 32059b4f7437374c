//! Idempotency keys, as an outside system sees them.

use std::collections::BTreeMap;

use windlass_core::raw::Raw;

use super::{Case, ensure};

/// The same key means the same tool with the same arguments: whoever tells repeats by it must never
/// take one call for another.
pub(super) fn name_one_call(case: &Case<'_>) -> Result<(), String> {
    let mut named: BTreeMap<&str, (&str, &Raw)> = BTreeMap::new();
    for effect in &case.evidence.seen.effects {
        let this = (effect.tool, &effect.input);
        let first = *named.entry(&effect.key).or_insert(this);
        ensure(first == this, || format!("{}: {first:?} and {this:?}", effect.key))?;
    }
    Ok(())
}
