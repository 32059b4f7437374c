//! Early calls: read-only calls that may start while the model still streams. They are allowed by
//! rules alone, have no hooks, and conflict with no block before them.

use super::draft::DecisionDraft;
use crate::call::call_facts::{AnsweredBy, CallFacts};
use crate::log::ids::{CallId, ModelCallId};
use crate::log::record::{EarlyStart, Record};
use crate::message::content_block::ToolUse;
use crate::permission::{HookPreference, PermissionDecision};
use crate::run::active_run::{PendingModelCall, Run};
use crate::settings::conversation_settings::HookPresence;

pub(super) fn on_block_ready(
    draft: &mut DecisionDraft<'_>,
    model_call: ModelCallId,
    index: u16,
    tool_use: &ToolUse,
    facts: &CallFacts,
) {
    let Some(asking) = draft.run().and_then(Run::pending_model_call) else { return };
    let seen = asking.early_calls.iter().any(|early| early.id.index >= index);
    if asking.model_call != model_call || seen {
        return;
    }
    let is_allowed =
        is_safe_to_start_early(draft, tool_use, facts) && has_early_slot(draft, asking, facts);
    let start = if is_allowed { EarlyStart::Started } else { EarlyStart::Held };
    draft.record(Record::EarlyCallDecided { call: CallId { model_call, index }, start });
}

fn is_safe_to_start_early(
    draft: &DecisionDraft<'_>,
    tool_use: &ToolUse,
    facts: &CallFacts,
) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let grants = &draft.state().grants;
    let query = facts.permission_query(&tool_use.name, grants, HookPreference::Neutral);
    facts.touches.is_read()
        && facts.is_repeatable()
        && facts.problem.is_none()
        && tool_use.input.is_object()
        && facts.answered_by == AnsweredBy::Tool
        && settings.hooks.before_tool == HookPresence::Absent
        && matches!(
            settings.rules.decide_exposed(query, &draft.state().exposure),
            PermissionDecision::Allow { .. }
        )
}

fn has_early_slot(draft: &DecisionDraft<'_>, asking: &PendingModelCall, facts: &CallFacts) -> bool {
    let limits = draft.limits();
    let launched =
        asking.early_calls.iter().filter(|early| early.start == EarlyStart::Started).count();
    let rounds = draft.run().map_or(0, |run| run.counters.tool_rounds);
    !draft.is_stopping()
        && draft.run().is_some_and(|run| run.reached_time_limit.is_none())
        && rounds < limits.tool_rounds
        && launched < usize::from(limits.parallel_calls.min(limits.early_calls))
        && asking.early_calls.len() < usize::from(limits.calls_per_reply)
        && !asking
            .early_calls
            .iter()
            .any(|early| early.facts.touches.conflicts_with(&facts.touches))
}
