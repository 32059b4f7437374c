//! Owner change (crash recovery): completed calls are replayed, calls that never started are run,
//! calls in flight are repeated only if that is safe; otherwise the tool is probed, then a human is
//! asked.

use std::sync::Arc;

use super::draft::DecisionDraft;
use super::finishing::finish_with_suspect_answer;
use super::interrupted_review::{abandon_review, finish_during_review};
use super::next_step::NextStep;
use super::reviews;
use crate::call::call_facts::ProbeSupport;
use crate::call::call_state::{Call, CallState};
use crate::call::outcome::CallResult;
use crate::log::ids::{CallId, Epoch};
use crate::log::input::ProbeResult;
use crate::log::record::{AbandonCause, Record, Transition};
use crate::run::active_run::{Approval, HumanPause, Run};
use crate::run::prompt_change::{self, PromptFingerprint};
use crate::run::question::QuestionKind;

pub(super) fn on_owner_changed(
    draft: &mut DecisionDraft<'_>,
    epoch: Epoch,
    prompt_hash: &Arc<str>,
    offer: Option<&PromptFingerprint>,
) -> NextStep {
    if draft.run().is_none() {
        return NextStep::Wait;
    }
    draft.record(Record::OwnerChanged { epoch });
    // A run that is about to end makes no further model call: the changed prompt does not matter.
    let changed = draft.state().prompt_hash.as_ref() != Some(prompt_hash);
    let ends = draft.is_stopping()
        || draft.is_round_fatal()
        || draft.is_past_hard_limit()
        || draft.run().is_some_and(Run::is_ended_by_hook);
    let drifted = changed && !ends;
    // A model call without a reply is charged in full and made again.
    let was_calling_model = draft.abandon_model_call(AbandonCause::OwnerEnded);
    recover_interrupted_calls(draft);
    match prompt_change_approval(draft) {
        Some(Approval::Pending) if !changed => {
            draft.record(Record::PromptChangeAccepted {});
            NextStep::Wait
        }
        Some(Approval::Pending | Approval::Given) => NextStep::Wait,
        None if drifted => ask_about_prompt_change(draft, offer),
        None => continue_run(draft, was_calling_model),
    }
}

fn ask_about_prompt_change(
    draft: &mut DecisionDraft<'_>,
    offer: Option<&PromptFingerprint>,
) -> NextStep {
    // A complete answer needs no further model call.
    if let Some(kept) =
        draft.run().and_then(Run::human_pause).and_then(HumanPause::suspect_answer).cloned()
    {
        return finish_with_suspect_answer(draft, &kept);
    }
    if let Some(step) =
        abandon_review(draft).and_then(|review| finish_during_review(draft, &review))
    {
        return step;
    }
    let changes = match (draft.state().run_owner.as_ref(), offer) {
        (Some(owner), Some(offer)) => {
            prompt_change::describe_changes(&owner.prompt_fingerprint(), offer)
        }
        (Some(_) | None, _) => {
            Arc::from("the system prompt or the tools changed since the run started")
        }
    };
    draft.ask_question(QuestionKind::PromptChanged { changes });
    NextStep::Wait
}

/// Returns whether a run that is paused because of a prompt change may continue.
fn prompt_change_approval(draft: &DecisionDraft<'_>) -> Option<Approval> {
    let halt = draft.run().and_then(Run::human_pause)?;
    matches!(halt.question.kind, QuestionKind::PromptChanged { .. }).then_some(halt.approval)
}

fn continue_run(draft: &mut DecisionDraft<'_>, was_calling_model: bool) -> NextStep {
    if was_calling_model {
        NextStep::ask_model(Transition::OwnerChanged)
    } else if draft.is_running_tools() {
        NextStep::AdvanceRound
    } else {
        reviews::resume_review(draft)
    }
}

fn recover_interrupted_calls(draft: &mut DecisionDraft<'_>) {
    let running = |call: &&Call| matches!(call.state, CallState::Running { .. });
    let ids: Vec<CallId> = draft.calls().iter().filter(running).map(|call| call.id).collect();
    for id in ids {
        let Some(call) = draft.call(id) else { continue };
        if call.facts.is_repeatable() {
            draft.record(Record::CallRequeued { call: id });
        } else {
            let verify = call.facts.probe;
            draft.record(Record::CallLost { call: id });
            if verify == ProbeSupport::Unsupported {
                draft.ask_question(QuestionKind::Uncertain { call: id });
            }
        }
    }
}

/// Handles the probe of a call that was in flight when its process died.
pub(super) fn on_call_probed(
    draft: &mut DecisionDraft<'_>,
    id: CallId,
    finding: &ProbeResult,
) -> NextStep {
    if draft.call(id).is_none_or(|call| call.state != CallState::Lost) {
        return NextStep::Wait;
    }
    match finding {
        ProbeResult::Happened { text } => {
            let limit = draft.result_char_limit();
            draft.finalize_result(id, CallResult::from_text(text, limit));
        }
        ProbeResult::DidNotHappen {} => draft.record(Record::CallRequeued { call: id }),
        ProbeResult::Unknown {} => {
            draft.ask_question(QuestionKind::Uncertain { call: id });
        }
    }
    NextStep::AdvanceRound
}
