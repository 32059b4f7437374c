//! Calls that may start while the model still streams: reads that rules alone allow, without hooks,
//! and in conflict with no block before them.

use super::draft::Draft;
use crate::block::ToolUse;
use crate::facts::{AnsweredBy, Facts};
use crate::ids::{AskId, CallId};
use crate::permission::{Asked, Effect, Lean, Verdict};
use crate::record::{Launch, Record};
use crate::run::{Asking, Run};
use crate::settings::Listening;

pub(super) fn block_ready(
    draft: &mut Draft<'_>,
    ask: AskId,
    index: u16,
    tool_use: &ToolUse,
    facts: &Facts,
) {
    let Some(asking) = draft.run().and_then(Run::asking) else { return };
    let seen = asking.early.iter().any(|early| early.id.index >= index);
    if asking.ask != ask || seen {
        return;
    }
    let may = is_harmless(draft, tool_use, facts) && is_free(draft, asking, facts);
    let launch = if may { Launch::Launched } else { Launch::Held };
    draft.record(Record::EarlyJudged { call: CallId { ask, index }, launch });
}

fn is_harmless(draft: &Draft<'_>, tool_use: &ToolUse, facts: &Facts) -> bool {
    let Some(settings) = draft.settings() else { return false };
    let asked = Asked {
        tool: &tool_use.name,
        subject: &facts.subject,
        effect: if facts.only_looks() { Effect::None } else { Effect::Some },
        lean: Lean::Neutral,
        grants: &draft.now().grants,
    };
    facts.touches.is_read()
        && facts.is_repeatable()
        && facts.problem.is_none()
        && tool_use.input.is_object()
        && facts.answered_by == AnsweredBy::Tool
        && settings.hooks.before_tool == Listening::Nobody
        && matches!(settings.rules.decide(asked), Verdict::Allow { .. })
}

fn is_free(draft: &Draft<'_>, asking: &Asking, facts: &Facts) -> bool {
    let limits = draft.limits();
    let launched = asking.early.iter().filter(|early| early.launch == Launch::Launched).count();
    let rounds = draft.run().map_or(0, |run| run.counters.tool_rounds);
    !draft.is_stopping()
        && draft.run().is_some_and(|run| run.time_up.is_none())
        && rounds < limits.tool_rounds
        && launched < usize::from(limits.parallel_calls.min(limits.early_calls))
        && asking.early.len() < usize::from(limits.calls_per_reply)
        && !asking.early.iter().any(|early| early.facts.touches.conflicts_with(&facts.touches))
}
