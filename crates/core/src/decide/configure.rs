//! Configuration of a conversation: its settings, and forks of another lane.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::iteration;
use super::next_step::NextStep;
use crate::log::ids::{LaneId, Seq};
use crate::log::record::{Record, Transition};
use crate::run::active_run::Approval;
use crate::settings::conversation_settings::Settings;

/// Handles new settings. They change between runs, or in a paused run that a human approved; never
/// during an active run.
pub(super) fn on_configured(draft: &mut DecisionDraft<'_>, settings: &Arc<Settings>) -> NextStep {
    match draft.run() {
        None if draft.state().owner_settings.as_ref() == Some(settings) => NextStep::Wait,
        None => {
            draft.record(Record::Configured {});
            NextStep::Wait
        }
        Some(run) if run.human_pause().is_some_and(|halt| halt.approval == Approval::Given) => {
            draft.record(Record::Configured {});
            continue_run(draft)
        }
        Some(_) => NextStep::Wait,
    }
}

fn continue_run(draft: &mut DecisionDraft<'_>) -> NextStep {
    if draft.is_running_tools() {
        NextStep::AdvanceRound
    } else if draft.run().is_some_and(|run| run.counters.model_calls == 0) {
        iteration::begin_run(draft)
    } else {
        NextStep::ask_model(Transition::OwnerChanged)
    }
}

/// Handles a fork. A copy starts where no round is open.
pub(super) fn on_forked(draft: &mut DecisionDraft<'_>, parent: &LaneId, at: Seq) {
    if draft.state().has_no_open_round() {
        draft.record(Record::Forked { parent: parent.clone(), at });
    }
}
