//! Invariants of the tools that servers offer.

use windlass_core::log::record::Record;
use windlass_core::run::active_run::{Run, RunPhase};
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_core::settings::server_tools::is_server_tool;
use windlass_core::{Conversation, Input};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] =
    &[("tools of servers change between two model calls, to what is offered", changes_rightly)];

pub(super) const STEPS: &[StepInvariant] =
    &[("a change of the tools of servers changes nothing else", others_stay)];

fn changes_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ServerToolsChanged { added, changed, removed } = fact.record else {
        return Ok(());
    };
    let Input::ServerToolsOffered { tools } = &fact.entry.input else {
        return Err("no one offered them".to_owned());
    };
    let Some(run) = &fact.now.run else { return Err("there is no run".to_owned()) };
    ensure(Run::pending_model_call(run).is_none(), || "a model call is in flight".to_owned())?;
    let old: Vec<_> = fact.now.run_owner.iter().flat_map(|owner| owner.server_tools()).collect();
    let was = |name: &str| old.iter().find(|tool| &*tool.name == name);
    let is_new = added.iter().all(|name| was(name).is_none());
    let is_gone = removed.iter().all(|name| tools.iter().all(|tool| tool.name != *name));
    let differs = changed.iter().all(|name| {
        let now = tools.iter().find(|tool| tool.name == *name);
        was(name).is_some_and(|was| now.is_some_and(|now| now != *was))
    });
    let is_same = |tool: &&&ToolSpec| tools.contains(tool);
    let left = old.iter().filter(is_same).count();
    let is_complete = left + changed.len() + removed.len() == old.len()
        && left + changed.len() + added.len() == tools.len();
    let count = added.len() + changed.len() + removed.len();
    let is_right = is_new && is_gone && differs && is_complete && count > 0;
    ensure(is_right, || format!("{:?}", fact.record))
}

fn others_stay(step: &StepUnderTest<'_>) -> InvariantResult {
    if !matches!(step.entry.input, Input::ServerToolsOffered { .. }) {
        return Ok(());
    }
    let others = |settings: Option<&Settings>| {
        let mut settings = settings.cloned();
        if let Some(settings) = &mut settings {
            settings.tools.retain(|tool| !is_server_tool(&tool.name));
        }
        settings
    };
    let (before, after) = (step.before, step.after);
    let same = others(before.settings.as_deref()) == others(after.settings.as_deref())
        && others(before.run_owner.as_deref()) == others(after.run_owner.as_deref())
        && phase(before) == phase(after)
        && before.transcript == after.transcript
        && before.prompt_hash == after.prompt_hash;
    ensure(same, || "something else changed".to_owned())
}

fn phase(conversation: &Conversation) -> Option<&RunPhase> {
    conversation.run.as_ref().map(|run| &run.phase)
}
