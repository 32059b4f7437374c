//! Moments of a run that hooks may see: read from an entry after its commit.

use std::sync::Arc;

use serde_json::Value;
use windlass_core::context::CompactionTrigger;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::message::content_block::{ContentBlock, ToolUse};
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{DenialSource, PermissionDecision};
use windlass_core::run::conversation::Conversation;
use windlass_core::stop::StopCause;

use crate::ports::RunMoment;

/// Returns the moments of an entry, in order.
pub(super) fn moments_of(
    before: &Conversation,
    after: &Conversation,
    entry: &Entry,
) -> Vec<RunMoment> {
    let moment = |record: &Record| match record {
        Record::PermissionDecided { call, verdict: PermissionDecision::Deny { by, reason } }
            if is_decided_here(*by) =>
        {
            let tool_use = find_tool_use(*call, before, after, &entry.input)?;
            Some(RunMoment::CallDenied { tool_use, reason: Arc::clone(reason) })
        }
        Record::RoundClosed {} => Some(RunMoment::RoundClosed { calls: calls_of_round(after) }),
        Record::Compacted { note, trigger, .. } => Some(RunMoment::Compacted {
            summary: Arc::clone(note),
            is_requested: *trigger == CompactionTrigger::Requested,
        }),
        Record::RunFinished { cause, text_override, .. } if is_failure_of_model(*cause) => {
            let error = before.run.as_ref().and_then(|run| run.last_error.clone());
            Some(RunMoment::RunFailed { cause: *cause, error: error.or(text_override.clone()) })
        }
        Record::FallbackModelSelected { .. } => {
            let (from, to) = (before.active_model()?, after.active_model()?);
            Some(RunMoment::FallbackSelected { from: from.name.clone(), to: to.name.clone() })
        }
        Record::ToolContextAdded { index } => {
            let Input::ToolReturned { context, .. } = &entry.input else { return None };
            let path = context.get(usize::from(*index))?.source.clone();
            Some(RunMoment::InstructionsLoaded { path })
        }
        _ => None,
    };
    let end = |record: &Record| match record {
        Record::RunFinished { cause, .. } => Some(RunMoment::RunEnded { cause: *cause }),
        _ => None,
    };
    entry.records.iter().flat_map(|record| moment(record).into_iter().chain(end(record))).collect()
}

/// Returns whether nobody was asked: hooks and humans know what they denied.
fn is_decided_here(by: DenialSource) -> bool {
    !matches!(by, DenialSource::Hook | DenialSource::Human)
}

fn is_failure_of_model(cause: StopCause) -> bool {
    matches!(
        cause,
        StopCause::ProviderFailed
            | StopCause::BlockingLimit
            | StopCause::TruncationExhausted
            | StopCause::Unexpected
    )
}

/// The tool use of a call whose round may have been opened and closed in the same entry.
fn find_tool_use(
    call: CallId,
    before: &Conversation,
    after: &Conversation,
    input: &Input,
) -> Option<ToolUse> {
    let known = after.call(call).or_else(|| before.call(call));
    if let Some(call) = known {
        return Some(call.tool_use.clone());
    }
    let Input::ModelReplied { reply, .. } = input else { return None };
    let mut uses = reply.tool_uses();
    uses.find(|(index, _)| *index == call.index).map(|(_, tool_use)| tool_use.clone())
}

/// The calls of the last round in the transcript, with what the model reads of their results.
pub(super) fn calls_of_round(after: &Conversation) -> Vec<(ToolUse, Option<RawJson>)> {
    let segments = after.transcript.segments();
    let mut results = Vec::new();
    for segment in segments.iter().rev() {
        let uses: Vec<&ToolUse> =
            segment.blocks.iter().filter_map(ContentBlock::as_tool_use).collect();
        results.extend(segment.blocks.iter().filter_map(result_of));
        if !uses.is_empty() {
            let result = |id: &str| {
                let found = results.iter().find(|(of, _)| of == id);
                found.map(|(_, content)| RawJson::encode(content))
            };
            return uses.into_iter().map(|one| (one.clone(), result(&one.id))).collect();
        }
    }
    Vec::new()
}

/// The id and the content of a tool result.
fn result_of(block: &ContentBlock) -> Option<(String, Value)> {
    let mut value: Value = block.raw().read().ok()?;
    let id = value.get("tool_use_id")?.as_str()?.to_owned();
    Some((id, value.get_mut("content").map(Value::take).unwrap_or_default()))
}
