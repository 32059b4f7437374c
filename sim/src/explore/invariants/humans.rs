//! Humans are asked when they must be, and only then.

use windlass_core::budget::AtCap;
use windlass_core::call::{Call, CallState};
use windlass_core::counsel::Counsel;
use windlass_core::facts::{AnsweredBy, Verify};
use windlass_core::ids::CallId;
use windlass_core::input::{Finding, Input, Opinion};
use windlass_core::mail::{Answer, MailBody};
use windlass_core::outcome::OutcomeKind;
use windlass_core::permission::Mode;
use windlass_core::question::{About, Question};
use windlass_core::record::{Record, TimeLimit, ToolChoice};
use windlass_core::run::{Fatality, Leave, Run};
use windlass_core::thrash::Level;
use windlass_core::window::Rung;

use super::mail;
use super::money;
use super::{Fact, OfFact, OfStep, Step, Verdict, ensure};
use crate::explore::law::{self, Standing};
use crate::explore::ledger::answer_in;

pub(super) const FACTS: &[OfFact] = &[
    ("nothing safe is put before a human", asked_only_when_needed),
    ("a question has its own number", questions_are_numbered),
    ("an answer fits an open question", answers_fit),
    ("a run halts only by consent to a change", drift_accepted_rightly),
    ("a model that must ask a person can do nothing else", made_to_ask),
    ("the mode changes only when a person approves a plan", mode_changes_rightly),
];

pub(super) const STEPS: &[OfStep] = &[
    ("a changed prompt halts the run", drift_is_asked),
    ("a halted run goes on only by consent", halt_needs_consent),
    ("a call that may have happened is asked about", lost_is_asked),
    ("leave that nobody gave in time is denied", late_leave_is_denied),
];

fn asked_only_when_needed(fact: &Fact<'_>) -> Verdict {
    let Record::Questioned { question } = fact.record else { return Ok(()) };
    let needed = match &question.about {
        About::Approval { call } => needs_leave(fact, *call),
        About::Uncertain { call } => is_uncertain(fact, *call),
        About::Asking { call } => {
            call_of(fact, *call).is_some_and(|call| call.facts.answered_by == AnsweredBy::Human)
        }
        About::Plan { call, .. } => call_of(fact, *call).is_some_and(|call| {
            let mode = fact.now.settings.as_ref().map(|settings| settings.rules.mode);
            call.facts.answered_by == AnsweredBy::PlanApproval && mode == Some(Mode::Plan)
        }),
        About::Drift { .. } => has_drifted(fact),
        About::Guidance { .. } => is_lost(fact),
        About::Budget { .. } => is_short(fact),
    };
    ensure(needed, || format!("{:?}", question.about))
}

fn mode_changes_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::ModeChanged { mode } = fact.record else { return Ok(()) };
    let Input::Received { mail } = &fact.entry.input else {
        return Err("nobody said so".to_owned());
    };
    let approved = mail.iter().any(|mail| match &mail.body {
        MailBody::Answer { answer, .. } => match answer {
            Answer::Allow { .. } => *mode == Mode::Default,
            Answer::Continue {} => *mode == Mode::AcceptEdits,
            _ => false,
        },
        _ => false,
    });
    let open = fact.world.live.run.iter().flat_map(Run::questions);
    let planned = open.into_iter().any(|open| matches!(open.about, About::Plan { .. }));
    ensure(approved && planned, || format!("{mode:?}"))
}

/// It is asked once, with that one tool; after that a person is asked.
fn made_to_ask(fact: &Fact<'_>) -> Verdict {
    let (Record::Asked { choice, .. }, Some(run)) = (fact.record, &fact.now.run) else {
        return Ok(());
    };
    let spoken = !run.steers.is_empty() || run.time_up.is_some();
    let tool = fact.now.settings.as_ref().map(|settings| settings.guards.ask_tool.clone());
    let made = tool.is_some_and(|tool| *choice == ToolChoice::Only(tool));
    let again = fact.world.live.run.as_ref().is_some_and(|live| live.due_question.is_some());
    let fine = run.due_question.is_none() || spoken || (made && !again);
    ensure(fine, || format!("it is asked with {choice:?}"))
}

fn call_of<'a>(fact: &'a Fact<'_>, id: CallId) -> Option<&'a Call> {
    fact.now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
}

fn needs_leave(fact: &Fact<'_>, id: CallId) -> bool {
    let (Some(call), Some(settings)) = (call_of(fact, id), &fact.now.settings) else {
        return false;
    };
    let unsure =
        matches!(fact.entry.input, Input::Classified { opinion: Opinion::Unsure { .. }, .. });
    let asks = match law::standing(settings, call, &fact.world.ledger) {
        Standing::Human => true,
        Standing::Classifier => unsure || !money::pays_for_opinion(fact.now),
        Standing::Never | Standing::Free => false,
    };
    asks && call.facts.problem.is_none() && !fact.world.ledger.is_approved(id)
}

fn is_uncertain(fact: &Fact<'_>, id: CallId) -> bool {
    let Some(call) = call_of(fact, id) else { return false };
    let unknown = match &fact.entry.input {
        Input::Probed { finding, .. } => *finding == Finding::Unknown {},
        Input::Adopted { .. } => call.facts.verify == Verify::CannotTell,
        _ => false,
    };
    let lost = call.state == CallState::Lost && call.attempts > 0;
    unknown && lost && !call.facts.is_repeatable()
}

fn has_drifted(fact: &Fact<'_>) -> bool {
    let Input::Adopted { prompt_hash, .. } = &fact.entry.input else { return false };
    let stopping = fact.now.run.as_ref().is_some_and(|run| run.stop.is_some());
    fact.now.prompt_hash.as_ref() != Some(prompt_hash) && !stopping
}

fn questions_are_numbered(fact: &Fact<'_>) -> Verdict {
    let Record::Questioned { question: Question { id, .. } } = fact.record else { return Ok(()) };
    ensure(*id == fact.now.questions + 1, || format!("{id} after {}", fact.now.questions))
}

fn answers_fit(fact: &Fact<'_>) -> Verdict {
    let Record::Answered { mail } = fact.record else { return Ok(()) };
    let open = answer_in(fact.now, &fact.entry.input, *mail);
    let at = fact.entry.at;
    let fits = open.is_some_and(|(question, answer)| mail::is_good(fact.now, question, answer, at));
    ensure(fits, || format!("mail {mail} answers {:?}", open.map(|(question, _)| question)))
}

/// The change is accepted by a human, or there is none any more.
fn drift_accepted_rightly(fact: &Fact<'_>) -> Verdict {
    let Record::DriftAccepted {} = fact.record else { return Ok(()) };
    let awaited = fact.now.run.as_ref().and_then(Run::halt).is_some();
    let fine = match &fact.entry.input {
        Input::Received { .. } => true,
        Input::Adopted { prompt_hash, .. } => fact.now.prompt_hash.as_ref() == Some(prompt_hash),
        _ => false,
    };
    ensure(awaited && fine, || "nobody accepted the change".to_owned())
}

/// A loop that was detected, a guardrail that was hit too often, a window that fills up again and
/// again; or a model that was to ask for one of these and did not.
fn is_lost(fact: &Fact<'_>) -> bool {
    let due = fact.now.run.as_ref().is_some_and(|run| run.due_question.is_some());
    due || fact.entry.records.iter().any(|record| match record {
        Record::Watched { level, .. } | Record::Rejected { level, .. } => *level == Level::Human,
        Record::Climbed { rung } => *rung == Rung::AskHuman,
        _ => false,
    })
}

/// Whoever set the cap wants to be asked, and what is left does not pay for a call.
fn is_short(fact: &Fact<'_>) -> bool {
    let Some(settings) = &fact.now.settings else { return false };
    settings.budget.at_cap == AtCap::Ask && money::is_short(fact.now)
}

/// When the time has come, no question is open that has expired.
fn late_leave_is_denied(step: &Step<'_>) -> Verdict {
    let Input::Ticked {} = step.entry.input else { return Ok(()) };
    let at = step.entry.at;
    let mut open = step.after.run.iter().flat_map(Run::questions);
    let late = open.find(|question| question.is_expired(at));
    ensure(late.is_none(), || format!("{late:?} at {at:?}"))
}

fn drift_is_asked(step: &Step<'_>) -> Verdict {
    let Input::Adopted { prompt_hash, .. } = &step.entry.input else { return Ok(()) };
    let Some(run) = &step.before.run else { return Ok(()) };
    let drifted = step.before.prompt_hash.as_ref() != Some(prompt_hash);
    let halted = step.after.run.as_ref().and_then(Run::halt).is_some();
    ensure(!drifted || halted || needs_no_model(run), || "the change went unnoticed".to_owned())
}

/// It is to end, or has its answer.
fn needs_no_model(run: &Run) -> bool {
    let fatal = run.round().is_some_and(|round| round.fatal == Fatality::Fatal);
    let over = run.time_up.is_some_and(|up| up.limit == TimeLimit::Hard);
    let sought = run.consulting().map(|sought| &sought.about);
    let kept = run.halt().is_some_and(|halt| halt.kept_answer().is_some());
    let answered = kept || sought.and_then(Counsel::ends).is_some();
    run.stop.is_some() || fatal || over || answered
}

fn halt_needs_consent(step: &Step<'_>) -> Verdict {
    let Some(before) = &step.before.run else { return Ok(()) };
    let after = step.after.run.as_ref().filter(|after| after.id == before.id);
    let (Some(halt), Some(after)) = (before.halt(), after) else { return Ok(()) };
    let configured = step.entry.records.contains(&Record::Configured {});
    let drift = matches!(halt.question.about, About::Drift { .. });
    let said =
        |record: &Record| matches!(record, Record::Guided { .. } | Record::BudgetExtended {});
    let consent = match drift {
        true => halt.leave == Leave::Given && configured,
        false => step.entry.records.iter().any(said),
    };
    ensure(after.halt().is_some() || consent, || format!("{} without leave", after.phase_name()))
}

/// After a takeover no once-only call is taken to be in the air, or as never started.
fn lost_is_asked(step: &Step<'_>) -> Verdict {
    let Input::Adopted { .. } = &step.entry.input else { return Ok(()) };
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

/// Asked about, or told as lost because a cancel has waited long enough for the answer.
fn asks(state: &CallState) -> bool {
    match state {
        CallState::Lost | CallState::Questioned(_) => true,
        CallState::Settled(shown) => shown.kind == OutcomeKind::Interrupted,
        _ => false,
    }
}
