//! Owner change (crash recovery): completed calls are replayed, calls that never started are run,
//! calls in flight are repeated only if that is safe; otherwise the tool is probed, then a human is
//! asked.

use std::sync::Arc;

use super::completion;
use super::draft::DecisionDraft;
use super::iteration;
use super::reviews;
use super::stopping;
use super::tool_calls;
use crate::call::call_facts::ProbeSupport;
use crate::call::call_state::{Call, CallState};
use crate::call::outcome::CallResult;
use crate::log::ids::{CallId, Epoch};
use crate::log::input::ProbeResult;
use crate::log::record::{AbandonCause, Record, TimeLimit, Transition};
use crate::run::active_run::{Approval, HumanPause, Run};
use crate::run::prompt_change::{self, PromptFingerprint};
use crate::run::question::QuestionKind;

pub(super) fn on_owner_changed(
    draft: &mut DecisionDraft<'_>,
    epoch: Epoch,
    prompt_hash: &Arc<str>,
    offer: Option<&PromptFingerprint>,
) {
    if draft.run().is_none() {
        return;
    }
    draft.record(Record::OwnerChanged { epoch });
    // A run that is about to end makes no further model call: the changed prompt does not matter.
    let changed = draft.state().prompt_hash.as_ref() != Some(prompt_hash);
    let drifted = changed
        && !draft.is_stopping()
        && !tool_calls::is_fatal(draft)
        && !is_past_hard_limit(draft);
    let was_asking = abandon_interrupted_call(draft);
    recover_interrupted_calls(draft);
    match prompt_change_approval(draft) {
        Some(Approval::Pending) if !changed => draft.record(Record::PromptChangeAccepted {}),
        Some(Approval::Pending | Approval::Given) => {}
        None if drifted => ask_about_prompt_change(draft, offer),
        None => continue_run(draft, was_asking),
    }
}

fn is_past_hard_limit(draft: &DecisionDraft<'_>) -> bool {
    let up = draft.run().and_then(|run| run.reached_time_limit);
    up.is_some_and(|up| up.limit == TimeLimit::Hard)
}

fn ask_about_prompt_change(draft: &mut DecisionDraft<'_>, offer: Option<&PromptFingerprint>) {
    // A complete answer needs no further model call.
    if let Some(kept) =
        draft.run().and_then(Run::human_pause).and_then(HumanPause::suspect_answer).cloned()
    {
        return completion::finish_with_suspect_answer(draft, &kept);
    }
    if reviews::abandon_review(draft)
        .is_some_and(|about| completion::finish_during_review(draft, &about))
    {
        return;
    }
    let changes = match (draft.state().run_owner.as_ref(), offer) {
        (Some(owner), Some(offer)) => {
            prompt_change::describe_changes(&owner.prompt_fingerprint(), offer)
        }
        (Some(_) | None, _) => {
            Arc::from("the system prompt or the tools changed since the run began")
        }
    };
    tool_calls::ask_question(draft, QuestionKind::PromptChanged { changes });
}

/// Returns whether a run that is paused because of a prompt change may continue.
fn prompt_change_approval(draft: &DecisionDraft<'_>) -> Option<Approval> {
    let halt = draft.run().and_then(Run::human_pause)?;
    matches!(halt.question.kind, QuestionKind::PromptChanged { .. }).then_some(halt.approval)
}

enum InterruptedModelCall {
    Yes,
    No,
}

/// Abandons a model call without a reply: it is charged in full and will be made again.
fn abandon_interrupted_call(draft: &mut DecisionDraft<'_>) -> InterruptedModelCall {
    let Some(asking) = draft.run().and_then(Run::pending_model_call) else {
        return InterruptedModelCall::No;
    };
    let abandoned = stopping::abandon_model_call(asking, AbandonCause::OwnerEnded);
    draft.record(abandoned);
    InterruptedModelCall::Yes
}

fn continue_run(draft: &mut DecisionDraft<'_>, was_asking: InterruptedModelCall) {
    match was_asking {
        InterruptedModelCall::Yes => iteration::ask_model(draft, Transition::OwnerChanged),
        InterruptedModelCall::No if tool_calls::is_running_tools(draft) => {
            tool_calls::advance_round(draft);
        }
        InterruptedModelCall::No => reviews::resume_review(draft),
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
                tool_calls::ask_question(draft, QuestionKind::Uncertain { call: id });
            }
        }
    }
}

/// Handles the probe of a call that was in flight when its process died.
pub(super) fn on_call_probed(draft: &mut DecisionDraft<'_>, id: CallId, finding: &ProbeResult) {
    if draft.call(id).is_none_or(|call| call.state != CallState::Lost) {
        return;
    }
    match finding {
        ProbeResult::Happened { text } => {
            let limit = draft.result_char_limit();
            tool_calls::finalize_result(draft, id, CallResult::from_text(text, limit));
        }
        ProbeResult::DidNotHappen {} => draft.record(Record::CallRequeued { call: id }),
        ProbeResult::Unknown {} => {
            tool_calls::ask_question(draft, QuestionKind::Uncertain { call: id });
        }
    }
    tool_calls::advance_round(draft);
}
