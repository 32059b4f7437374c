//! Applies records of runs that wait: reviews, questions to a human, and what was decided about an
//! answer.

use crate::call::call_state::CallState;
use crate::call::input_request::{AnsweredRequest, RequestAnswer};
use crate::guard::loop_detection::EscalationLevel;
use crate::log::ids::InboxMessageId;
use crate::log::inbox::{HumanAnswer, InboxCommand};
use crate::log::input::Input;
use crate::log::record::RejectionSource;
use crate::message::content_block::ContentBlock;
use crate::message::reply::TokenUsage;
use crate::run::active_run::{Approval, HumanPause, PendingReview, Run, RunPhase};
use crate::run::conversation::Conversation;
use crate::run::question::{Question, QuestionKind};
use crate::run::review::{Review, ReviewId};

use super::model_calls::charge;
use super::prompts::command_of;
use super::{with_call, with_run};

pub(super) fn apply_review_requested(c: &mut Conversation, id: ReviewId, about: &Review) {
    c.review_count = id;
    with_run(c, |run| run.phase = RunPhase::InReview(PendingReview { id, review: about.clone() }));
}

pub(super) fn apply_review_completed(c: &mut Conversation, charged: Option<&TokenUsage>) {
    if let Some(usage) = charged {
        let price = c.side_model_price();
        charge(c, usage, price.as_ref());
    }
    with_run(c, |run| run.phase = RunPhase::Deciding);
}

pub(super) fn apply_question_asked(c: &mut Conversation, question: &Question) {
    c.question_count = question.id;
    with_run(c, |run| clear_required_question(run, &question.kind));
    match question.kind.call() {
        Some(call) => with_call(c, call, |call| {
            // The start of a repeatable call is not stored: it does not count.
            call.discard_volatile();
            call.state = CallState::AwaitingHuman(question.clone());
        }),
        None => with_run(c, |run| pause_run(run, question.clone())),
    }
}

/// Clears the required question once the model has asked the human: what led to it is over.
fn clear_required_question(run: &mut Run, kind: &QuestionKind) {
    let was_due = match kind {
        QuestionKind::ModelQuestion { .. } | QuestionKind::Guidance { .. } => {
            run.required_question.take().is_some()
        }
        QuestionKind::Approval { .. }
        | QuestionKind::ToolRequest { .. }
        | QuestionKind::Uncertain { .. }
        | QuestionKind::Plan { .. }
        | QuestionKind::Budget { .. }
        | QuestionKind::PromptChanged { .. } => false,
    };
    if was_due {
        run.loop_guard.reset();
    }
}

/// Keeps what was answered to the tool that asks: the call is started again with it.
pub(super) fn apply_question_answered(
    c: &mut Conversation,
    input: &Input,
    message_id: InboxMessageId,
) {
    let Some(InboxCommand::Answer { question, answer, .. }) = command_of(input, message_id) else {
        return;
    };
    let open = c.run.iter().flat_map(Run::open_questions).find(|open| open.id == *question);
    let Some(QuestionKind::ToolRequest { call, request }) = open.map(|open| open.kind.clone())
    else {
        return;
    };
    let Some(answer) = RequestAnswer::from_human(&request, answer) else { return };
    with_call(c, call, |call| call.answered_requests.push(AnsweredRequest { request, answer }));
}

fn pause_run(run: &mut Run, question: Question) {
    let round = match std::mem::replace(&mut run.phase, RunPhase::Deciding) {
        RunPhase::RunningTools(round) => Some(round),
        RunPhase::Paused(halt) => halt.round,
        RunPhase::Deciding
        | RunPhase::CallingModel(_)
        | RunPhase::AwaitingRetry { .. }
        | RunPhase::InReview(_) => None,
    };
    run.phase = RunPhase::Paused(HumanPause { question, round, approval: Approval::Pending });
}

fn resume_run(run: &mut Run) {
    if let RunPhase::Paused(halt) = &mut run.phase {
        run.phase = halt.round.take().map_or(RunPhase::Deciding, RunPhase::RunningTools);
    }
}

/// Adds the guidance of a human to the transcript, as user input like a prompt.
pub(super) fn apply_guidance(c: &mut Conversation, input: &Input, message_id: InboxMessageId) {
    let Some(InboxCommand::Answer { answer, .. }) = command_of(input, message_id) else { return };
    if let HumanAnswer::Text { text } = answer {
        c.transcript.push_prompt(&[ContentBlock::text(text)]);
        with_run(c, |run| {
            run.user_message_count = run.user_message_count.saturating_add(1);
            run.answer_parts.clear();
        });
    }
    with_run(c, |run| {
        if run.human_pause().is_some_and(|halt| halt.suspect_answer().is_some()) {
            // The answer that the question was about is not the final answer.
            run.answer_parts.clear();
            run.structured_output = None;
        }
        run.loop_guard.reset();
        reset_guardrails(run);
        resume_run(run);
    });
}

/// Resets the guardrails after a human answered: earlier rejections no longer count.
fn reset_guardrails(run: &mut Run) {
    run.counters.rejections = 0;
    run.counters.output_retries = 0;
    run.counters.reprompts = 0;
}

pub(super) fn apply_prompt_change_accepted(run: &mut Run) {
    reset_guardrails(run);
    if let RunPhase::Paused(halt) = &mut run.phase {
        halt.approval = Approval::Given;
    }
}

pub(super) fn apply_budget_extended(run: &mut Run) {
    run.budget_extensions = run.budget_extensions.saturating_add(1);
    resume_run(run);
}

/// Applies the rejection of an answer. A rejected answer is not kept for later, unless a human is
/// asked about it.
pub(super) fn apply_answer_rejected(run: &mut Run, by: RejectionSource, level: EscalationLevel) {
    if level != EscalationLevel::Human {
        run.structured_output = None;
    }
    let counter = match by {
        RejectionSource::Schema => &mut run.counters.output_retries,
        RejectionSource::Drift => &mut run.counters.reprompts,
        RejectionSource::Checklist | RejectionSource::Hook | RejectionSource::Judge => {
            &mut run.counters.rejections
        }
    };
    *counter = counter.saturating_add(1);
}
