//! Tools of servers that change while a run is active. No approval is needed for the change itself: a
//! new tool is covered by no earlier approval, and one whose definition changed is withheld by the
//! owner until it is approved.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::next_step::NextStep;
use crate::log::record::Record;
use crate::run::active_run::RunPhase;
use crate::settings::conversation_settings::{Settings, ToolSpec};

/// Handles the list of tools that servers offer now. A model call in flight is not disturbed: its
/// owner offers the list again before the next one.
pub(super) fn on_server_tools_offered(
    draft: &mut DecisionDraft<'_>,
    tools: &[ToolSpec],
) -> NextStep {
    let is_calling_model =
        draft.run().is_some_and(|run| matches!(run.phase, RunPhase::CallingModel(_)));
    let Some(owner) = draft.state().run_owner.clone() else { return NextStep::Wait };
    if draft.run().is_none() || is_calling_model || owner.server_tools().eq(tools) {
        return NextStep::Wait;
    }
    draft.record(describe_change(&owner, tools));
    NextStep::Wait
}

fn describe_change(owner: &Settings, tools: &[ToolSpec]) -> Record {
    let before = |name: &str| owner.server_tools().find(|tool| &*tool.name == name);
    let names = |wanted: &dyn Fn(&ToolSpec) -> bool| -> Vec<Arc<str>> {
        tools.iter().filter(|tool| wanted(tool)).map(|tool| tool.name.clone()).collect()
    };
    let is_gone = |old: &&ToolSpec| tools.iter().all(|tool| tool.name != old.name);
    Record::ServerToolsChanged {
        added: names(&|tool| before(&tool.name).is_none()),
        changed: names(&|tool| before(&tool.name).is_some_and(|old| old != tool)),
        removed: owner.server_tools().filter(is_gone).map(|tool| tool.name.clone()).collect(),
    }
}
