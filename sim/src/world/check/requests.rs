//! What the model was sent.

use std::collections::BTreeMap;

use windlass_core::audit::audit;
use windlass_core::block::Block;
use windlass_core::ids::LaneId;
use windlass_core::request::Request;

use super::{Case, ensure};
use crate::world::witness::{SeenRequest, Tick};

pub(super) fn acceptable(case: &Case<'_>) -> Result<(), String> {
    for SeenRequest { lane, request, .. } in &case.evidence.seen.requests {
        audit(&request.messages())
            .map_err(|refusal| format!("{lane:?} model call {}: {refusal}", request.ask))?;
    }
    Ok(())
}

/// A power cut may take back what was sent; then the comparison begins anew.
pub(super) fn grow(case: &Case<'_>) -> Result<(), String> {
    let mut last: BTreeMap<&LaneId, &SeenRequest> = BTreeMap::new();
    for seen in &case.evidence.seen.requests {
        let Some(lane) = &seen.lane else { continue };
        if let Some(before) = last.insert(lane, seen)
            && comparable(case, before, seen)
        {
            let grown = extends(&before.request, &seen.request);
            ensure(grown, || format!("{lane} model call {}", seen.request.ask))?;
        }
    }
    Ok(())
}

fn comparable(case: &Case<'_>, before: &SeenRequest, after: &SeenRequest) -> bool {
    let same = before.request.transcript.generation() == after.request.transcript.generation();
    same && !power_cut_between(case, before.tick, after.tick)
}

fn power_cut_between(case: &Case<'_>, from: Tick, to: Tick) -> bool {
    case.evidence.seen.power_cuts.iter().any(|cut| from < cut.tick && cut.tick < to)
}

fn extends(before: &Request, after: &Request) -> bool {
    let mut grown = blocks(after);
    blocks(before).all(|block| grown.next() == Some(block))
}

fn blocks(request: &Request) -> impl Iterator<Item = &Block> {
    request.transcript.segments().iter().flat_map(|segment| segment.blocks.iter())
}
