//! Invariants of questions: a human is asked when that is required, and only then.

use windlass_core::budget::spending::CapAction;
use windlass_core::call::call_facts::{AnsweredBy, ProbeSupport};
use windlass_core::call::call_state::{Call, CallState};
use windlass_core::call::input_request::InputRequest;
use windlass_core::call::outcome::{OutcomeKind, ToolOutcome};
use windlass_core::context::RecoveryStep;
use windlass_core::guard::loop_detection::EscalationLevel;
use windlass_core::log::ids::CallId;
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::log::input::{Classification, Input, ProbeResult};
use windlass_core::log::record::{Record, TimeLimit, ToolChoice};
use windlass_core::permission::PermissionMode;
use windlass_core::run::active_run::{Approval, RoundFatality, Run};
use windlass_core::run::question::{Question, QuestionKind};
use windlass_core::run::review::Review;

use super::commands;
use super::money;
use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StateInvariant, StateUnderTest,
    StepInvariant, StepUnderTest, ensure,
};
use crate::explore::ledger::answer_in;
use crate::explore::permission_model::{self, RequiredConsent};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("no human is asked about what is safe", asked_only_when_needed),
    ("a question has its own number", questions_are_numbered),
    ("an answer fits an open question", answers_fit),
    ("a run halts only by consent to a change", drift_accepted_rightly),
    ("a model that must ask a person can do nothing else", made_to_ask),
    ("the mode changes only when a person approves a plan", mode_changes_rightly),
];

pub(super) const STATES: &[StateInvariant] =
    &[("a question that no longer matters is not open", questions_matter)];

pub(super) const STEPS: &[StepInvariant] = &[
    ("a changed prompt halts the run", drift_is_asked),
    ("a halted run goes on only by consent", halt_needs_consent),
    ("a call that may have happened is asked about", lost_is_asked),
    ("a call that is not approved in time is denied", late_leave_is_denied),
];

fn asked_only_when_needed(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::QuestionAsked { question } = fact.record else { return Ok(()) };
    let needed = match &question.kind {
        QuestionKind::Approval { call } => needs_leave(fact, *call),
        QuestionKind::Uncertain { call } => is_uncertain(fact, *call),
        QuestionKind::ModelQuestion { call } => {
            call_of(fact, *call).is_some_and(|call| call.facts.answered_by == AnsweredBy::Human)
        }
        QuestionKind::ToolRequest { call, request } => asked_in_call(fact, *call, request),
        QuestionKind::Plan { call, .. } => call_of(fact, *call).is_some_and(|call| {
            let mode = fact.now.settings.as_ref().map(|settings| settings.rules.mode);
            call.facts.answered_by == AnsweredBy::PlanApproval && mode == Some(PermissionMode::Plan)
        }),
        QuestionKind::PromptChanged { .. } => has_drifted(fact),
        QuestionKind::Guidance { .. } => is_lost(fact),
        QuestionKind::Budget { .. } => is_short(fact),
    };
    ensure(needed, || format!("{:?}", question.kind))
}

/// An approval is asked for as long as it is needed, and no longer. A rule that is granted with an
/// approval leaves the other questions to the person.
fn questions_matter(state: &StateUnderTest<'_>) -> InvariantResult {
    let (live, ledger) = (&state.world.live, &state.world.ledger);
    let Some(settings) = &live.settings else { return Ok(()) };
    let calls = live.run.as_ref().and_then(Run::round).into_iter().flat_map(|round| &round.calls);
    let asked = |call: &&Call| {
        call.question().is_some_and(|open| matches!(open.kind, QuestionKind::Approval { .. }))
    };
    let needless = |call: &&Call| {
        let needed = permission_model::required_consent(settings, call, ledger);
        !matches!(needed, RequiredConsent::Human | RequiredConsent::Classifier)
    };
    let found = calls.filter(asked).find(needless).filter(|_| !ledger.has_granted_with_approval());
    ensure(found.is_none(), || format!("{:?}", found.map(|call| &call.tool_use.name)))
}

fn mode_changes_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModeChanged { mode } = fact.record else { return Ok(()) };
    let Input::CommandsReceived { messages } = &fact.entry.input else {
        return Err("no human said so".to_owned());
    };
    let approved = messages.iter().any(|mail| match &mail.body {
        InboxCommand::Answer { answer, .. } => match answer {
            HumanAnswer::Allow { .. } => *mode == PermissionMode::Default,
            HumanAnswer::Continue {} => *mode == PermissionMode::AcceptEdits,
            _ => false,
        },
        _ => false,
    });
    let open = fact.world.live.run.iter().flat_map(Run::open_questions);
    let planned = open.into_iter().any(|open| matches!(open.kind, QuestionKind::Plan { .. }));
    ensure(approved && planned, || format!("{mode:?}"))
}

/// The model is required to ask once, with that one tool; after that the runtime asks.
fn made_to_ask(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let (Record::ModelCallStarted { choice, .. }, Some(run)) = (fact.record, &fact.now.run) else {
        return Ok(());
    };
    let spoken = !run.steers.is_empty() || run.reached_time_limit.is_some();
    let tool = fact.now.settings.as_ref().map(|settings| settings.guards.ask_tool.clone());
    let made = tool.is_some_and(|tool| *choice == ToolChoice::Tool(tool));
    let again = fact.world.live.run.as_ref().is_some_and(|live| live.required_question.is_some());
    let fine = run.required_question.is_none() || spoken || (made && !again);
    ensure(fine, || format!("it is asked with {choice:?}"))
}

fn call_of<'a>(fact: &'a RecordUnderTest<'_>, id: CallId) -> Option<&'a Call> {
    fact.now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
}

/// A tool asks only by the return of the attempt that runs.
fn asked_in_call(fact: &RecordUnderTest<'_>, id: CallId, request: &InputRequest) -> bool {
    let Input::ToolReturned { call, outcome, attempt, .. } = &fact.entry.input else {
        return false;
    };
    let before = call_of(fact, id);
    let runs = before.is_some_and(|call| call.is_running() && call.attempts == *attempt);
    let asks = matches!(outcome, ToolOutcome::InputRequested(asked) if asked == request);
    *call == id && runs && asks
}

fn needs_leave(fact: &RecordUnderTest<'_>, id: CallId) -> bool {
    let (Some(call), Some(settings)) = (call_of(fact, id), &fact.now.settings) else {
        return false;
    };
    let unsure = matches!(
        fact.entry.input,
        Input::CallClassified { classification: Classification::Unsure { .. }, .. }
    );
    let asks = match permission_model::required_consent(settings, call, &fact.world.ledger) {
        RequiredConsent::Human => true,
        RequiredConsent::Classifier => unsure || !money::pays_for_opinion(fact.now),
        RequiredConsent::Never | RequiredConsent::EarlierHuman | RequiredConsent::Free => false,
    };
    asks && call.facts.problem.is_none() && !fact.world.ledger.is_approved(id)
}

fn is_uncertain(fact: &RecordUnderTest<'_>, id: CallId) -> bool {
    let Some(call) = call_of(fact, id) else { return false };
    let unknown = match &fact.entry.input {
        Input::CallProbed { result, .. } => *result == ProbeResult::Unknown {},
        Input::OwnerChanged { .. } => call.facts.probe == ProbeSupport::Unsupported,
        _ => false,
    };
    let lost = call.state == CallState::Lost && call.attempts > 0;
    unknown && lost && !call.facts.is_repeatable()
}

fn has_drifted(fact: &RecordUnderTest<'_>) -> bool {
    let Input::OwnerChanged { prompt_hash, .. } = &fact.entry.input else { return false };
    let stopping = fact.now.run.as_ref().is_some_and(|run| run.stop_request.is_some());
    fact.now.prompt_hash.as_ref() != Some(prompt_hash) && !stopping
}

fn questions_are_numbered(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::QuestionAsked { question: Question { id, .. } } = fact.record else {
        return Ok(());
    };
    ensure(*id == fact.now.question_count + 1, || format!("{id} after {}", fact.now.question_count))
}

fn answers_fit(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::QuestionAnswered { message } = fact.record else { return Ok(()) };
    let open = answer_in(fact.now, &fact.entry.input, *message);
    let at = fact.entry.at;
    let fits =
        open.is_some_and(|(question, answer)| commands::is_good(fact.now, question, answer, at));
    ensure(fits, || format!("message {message} answers {:?}", open.map(|(question, _)| question)))
}

/// The prompt change is accepted by a human, or there is none any more.
fn drift_accepted_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::PromptChangeAccepted {} = fact.record else { return Ok(()) };
    let awaited = fact.now.run.as_ref().and_then(Run::human_pause).is_some();
    let fine = match &fact.entry.input {
        Input::CommandsReceived { .. } => true,
        Input::OwnerChanged { prompt_hash, .. } => {
            fact.now.prompt_hash.as_ref() == Some(prompt_hash)
        }
        _ => false,
    };
    ensure(awaited && fine, || "no human accepted the change".to_owned())
}

/// Whether guidance is needed: a loop was detected, a guardrail rejected too often, a window fills
/// up again and again; or a model was required to ask about one of these and did not.
fn is_lost(fact: &RecordUnderTest<'_>) -> bool {
    let due = fact.now.run.as_ref().is_some_and(|run| run.required_question.is_some());
    due || fact.entry.records.iter().any(|record| match record {
        Record::LoopDetectionUpdated { level, .. } | Record::AnswerRejected { level, .. } => {
            *level == EscalationLevel::Human
        }
        Record::RecoveryStepUsed { step } => *step == RecoveryStep::AskHuman,
        _ => false,
    })
}

/// Whether the cap requires a question, and the remaining budget does not cover a call.
fn is_short(fact: &RecordUnderTest<'_>) -> bool {
    let Some(settings) = &fact.now.settings else { return false };
    settings.budget.at_cap == CapAction::Ask && money::is_short(fact.now)
}

/// When the timer fires, no expired question stays open.
fn late_leave_is_denied(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::TimerFired {} = step.entry.input else { return Ok(()) };
    let at = step.entry.at;
    let mut open = step.after.run.iter().flat_map(Run::open_questions);
    let late = open.find(|question| question.is_expired(at));
    ensure(late.is_none(), || format!("{late:?} at {at:?}"))
}

fn drift_is_asked(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::OwnerChanged { prompt_hash, .. } = &step.entry.input else { return Ok(()) };
    let Some(run) = &step.before.run else { return Ok(()) };
    let drifted = step.before.prompt_hash.as_ref() != Some(prompt_hash);
    let halted = step.after.run.as_ref().and_then(Run::human_pause).is_some();
    ensure(!drifted || halted || needs_no_model(run), || "the change went unnoticed".to_owned())
}

/// Whether the run is about to end, or has its answer.
fn needs_no_model(run: &Run) -> bool {
    let fatal = run.round().is_some_and(|round| round.fatality == RoundFatality::Fatal);
    let over = run.reached_time_limit.is_some_and(|up| up.limit == TimeLimit::Hard);
    let sought = run.pending_review().map(|sought| &sought.review);
    let kept = run.human_pause().is_some_and(|halt| halt.suspect_answer().is_some());
    let answered = kept || sought.and_then(Review::stop_cause).is_some();
    run.stop_request.is_some() || run.is_ended_by_hook() || fatal || over || answered
}

fn halt_needs_consent(step: &StepUnderTest<'_>) -> InvariantResult {
    let Some(before) = &step.before.run else { return Ok(()) };
    let after = step.after.run.as_ref().filter(|after| after.id == before.id);
    let (Some(halt), Some(after)) = (before.human_pause(), after) else { return Ok(()) };
    let configured = step.entry.records.contains(&Record::Configured {});
    let drift = matches!(halt.question.kind, QuestionKind::PromptChanged { .. });
    let said = |record: &Record| {
        matches!(record, Record::GuidanceGiven { .. } | Record::BudgetExtended {})
    };
    let consent = match drift {
        true => halt.approval == Approval::Given && configured,
        false => step.entry.records.iter().any(said),
    };
    ensure(after.human_pause().is_some() || consent, || {
        format!("{} without approval", after.phase_name())
    })
}

/// After an owner change no once-only call is assumed to be in flight, or never to have started.
fn lost_is_asked(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::OwnerChanged { .. } = &step.entry.input else { return Ok(()) };
    let was = step.before.run.as_ref().and_then(Run::round);
    let is = step.after.run.as_ref().and_then(Run::round);
    let calls = was.into_iter().flat_map(|round| &round.calls);
    let mut flew = calls.filter(|call| matches!(call.state, CallState::Running { .. }));
    let wrong = flew.find(|call| {
        let now = is.and_then(|round| round.call(call.id));
        !call.facts.is_repeatable() && now.is_some_and(|now| !asks(&now.state))
    });
    ensure(wrong.is_none(), || format!("call {:?}", wrong.map(|call| call.id)))
}

/// The human is asked, or the call is reported as lost because a cancel has waited long enough for
/// the answer.
fn asks(state: &CallState) -> bool {
    match state {
        CallState::Lost | CallState::AwaitingHuman(_) => true,
        CallState::Finished(shown) => shown.kind == OutcomeKind::Interrupted,
        _ => false,
    }
}
