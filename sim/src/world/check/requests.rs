//! Checks of the requests that the model received.

use std::collections::BTreeMap;

use windlass_core::log::ids::LaneId;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::request::ModelRequest;
use windlass_core::message::request_check::check_messages;

use super::{CheckedWorld, ensure};
use crate::world::observation_log::{ObservationTick, SeenRequest};

pub(super) fn acceptable(case: &CheckedWorld<'_>) -> Result<(), String> {
    for SeenRequest { lane, request, .. } in &case.evidence.seen.requests {
        check_messages(&request.messages())
            .map_err(|refusal| format!("{lane:?} model call {}: {refusal}", request.model_call))?;
    }
    Ok(())
}

/// Requests grow. A power cut may undo what was sent; then the comparison starts anew.
pub(super) fn grow(case: &CheckedWorld<'_>) -> Result<(), String> {
    let mut last: BTreeMap<&LaneId, &SeenRequest> = BTreeMap::new();
    for seen in &case.evidence.seen.requests {
        let Some(lane) = &seen.lane else { continue };
        if let Some(before) = last.insert(lane, seen)
            && comparable(case, before, seen)
        {
            let grown = extends(&before.request, &seen.request);
            ensure(grown, || format!("{lane} model call {}", seen.request.model_call))?;
        }
    }
    Ok(())
}

fn comparable(case: &CheckedWorld<'_>, before: &SeenRequest, after: &SeenRequest) -> bool {
    let same = before.request.transcript.generation() == after.request.transcript.generation();
    same && !power_cut_between(case, before.tick, after.tick)
}

fn power_cut_between(case: &CheckedWorld<'_>, from: ObservationTick, to: ObservationTick) -> bool {
    case.evidence.seen.power_cuts.iter().any(|cut| from < cut.tick && cut.tick < to)
}

fn extends(before: &ModelRequest, after: &ModelRequest) -> bool {
    let mut grown = blocks(after);
    blocks(before).all(|block| grown.next() == Some(block))
}

fn blocks(request: &ModelRequest) -> impl Iterator<Item = &ContentBlock> {
    request.transcript.segments().iter().flat_map(|segment| segment.blocks.iter())
}
