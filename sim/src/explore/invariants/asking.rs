//! Asking the model, reading its reply, and what people say meanwhile.

use windlass_core::mail::{Answer, MailBody};
use windlass_core::record::{Launch, Record, Transition};
use windlass_core::reply::StopReason;
use windlass_core::run::{Phase, Run};
use windlass_core::transcript::{Part, Role};
use windlass_core::{Conversation, Input};

use super::{Fact, OfFact, OfStep, Step, Verdict, ensure};

pub(super) const FACTS: &[OfFact] = &[
    ("the model is asked only between two things", asked_from_between),
    ("a model call has its own number", asks_are_numbered),
    ("a request ends with what is to be answered", request_ends_with_user),
    ("a reply answers the call in the air", reply_fits),
    ("a pause is for a passing failure and bounded", pause_is_bounded),
    ("a block runs early at most once", early_once),
];

pub(super) const STEPS: &[OfStep] = &[
    ("what a person said reaches the model", steers_are_heard),
    ("a refused reply runs nothing", refusal_runs_nothing),
    ("a reply is said to the model once", notes_are_single),
];

fn asking(c: &Conversation) -> Option<&windlass_core::run::Asking> {
    c.run.as_ref().and_then(Run::asking)
}

fn asked_from_between(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { .. } = fact.record else { return Ok(()) };
    let ready = fact.now.run.as_ref().is_some_and(|run| match run.phase {
        Phase::Between | Phase::Deferred { .. } => run.stop.is_none(),
        Phase::Asking(_) | Phase::Acting(_) | Phase::Consulting(_) | Phase::Halted(_) => false,
    });
    ensure(ready, || format!("asked while {}", fact.now.phase_name()))
}

fn asks_are_numbered(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { ask, .. } = fact.record else { return Ok(()) };
    ensure(*ask == fact.now.asks + 1, || format!("{ask} after {}", fact.now.asks))
}

fn request_ends_with_user(fact: &Fact<'_>) -> Verdict {
    let Record::Asked { transition, .. } = fact.record else { return Ok(()) };
    let goes_on = match transition {
        Transition::Resume | Transition::Retry | Transition::RaiseCap => true,
        Transition::Compacted | Transition::Adopted | Transition::Guided => true,
        Transition::Prompt | Transition::ToolResults | Transition::ContinueText => false,
        Transition::ReissueToolUse | Transition::Reprompt | Transition::Steer => false,
        Transition::Rejected | Transition::SumUp => false,
    };
    let steered = fact.now.run.as_ref().is_some_and(|run| !run.steers.is_empty());
    let last = fact.now.transcript.segments().last().map(|segment| segment.role);
    ensure(goes_on || steered || last == Some(Role::User), || format!("{transition:?}: {last:?}"))
}

fn reply_fits(fact: &Fact<'_>) -> Verdict {
    let Record::Replied { ask, .. } = fact.record else { return Ok(()) };
    let Input::Replied { ask: told, .. } = &fact.entry.input else {
        return Err("a reply out of nowhere".to_owned());
    };
    let open = asking(fact.now).map(|asking| asking.ask);
    ensure(open == Some(*ask) && ask == told, || format!("{told} taken for {open:?}"))
}

fn pause_is_bounded(fact: &Fact<'_>) -> Verdict {
    let Record::Deferred { until, failures } = fact.record else { return Ok(()) };
    let Some(settings) = &fact.now.settings else { return Ok(()) };
    let pause = until.since(fact.entry.at);
    let longest = settings.limits.model_retry_most_ms * 2;
    let before = fact.now.run.as_ref().map_or(0, |run| run.counters.failures);
    let failed = matches!(fact.entry.input, Input::ModelFailed { .. });
    let stopping = fact.now.run.as_ref().is_some_and(|run| run.stop.is_some());
    let waits = is_waited_for(fact, settings.limits.provider_wait_ms);
    let few = *failures <= settings.limits.model_retries || waits;
    let bounded = pause <= longest && *failures == before + 1 && few;
    ensure(failed && bounded && !stopping, || format!("{failures} failures, {pause} ms"))
}

/// Whether the provider is down and was not waited for long enough.
fn is_waited_for(fact: &Fact<'_>, most_ms: u64) -> bool {
    let down = fact.now.run.as_ref().and_then(|run| run.down_since);
    down.is_some_and(|since| fact.entry.at.since(since) < most_ms)
}

fn early_once(fact: &Fact<'_>) -> Verdict {
    let Record::EarlyJudged { call, launch } = fact.record else { return Ok(()) };
    let stopping = fact.now.run.as_ref().is_some_and(|run| run.stop.is_some());
    let again = asking(fact.now).is_none_or(|a| a.early.iter().any(|early| early.id == *call));
    let late = stopping && *launch == Launch::Launched;
    ensure(!again && !late, || format!("call {call} ran ahead wrongly"))
}

/// A steer waits in the run until the transcript takes it, at the latest when the run ends.
fn steers_are_heard(step: &Step<'_>) -> Verdict {
    let records = &step.entry.records;
    if records.iter().any(|r| matches!(r, Record::Compacted { .. } | Record::Forked { .. })) {
        return Ok(());
    }
    let added = records.iter().filter(|r| matches!(r, Record::Steered { .. })).count();
    let began = records.iter().filter(|r| matches!(r, Record::RunStarted { .. })).count();
    let guided = records.iter().filter(|r| says_words(step, r)).count();
    let withdrawn = records.iter().filter(|r| matches!(r, Record::PromptWithdrawn {})).count();
    let due = waiting(step.before) + added + began + guided;
    let heard = prompts(step.after) + withdrawn - prompts(step.before);
    let kept = waiting(step.after);
    ensure(heard + kept == due, || format!("{heard} heard and {kept} kept of {due}"))
}

/// Whether a person answered with words: they are theirs, like a prompt.
fn says_words(step: &Step<'_>, record: &Record) -> bool {
    let Record::Guided { mail: id } = record else { return false };
    let Input::Received { mail } = &step.entry.input else { return false };
    let answer = mail.iter().find(|mail| mail.id == *id).map(|mail| &mail.body);
    matches!(answer, Some(MailBody::Answer { answer: Answer::Text { .. }, .. }))
}

fn waiting(c: &Conversation) -> usize {
    c.run.as_ref().map_or(0, |run| run.steers.len())
}

fn prompts(c: &Conversation) -> usize {
    c.transcript.segments().iter().filter(|segment| segment.part == Part::Prompt).count()
}

fn refusal_runs_nothing(step: &Step<'_>) -> Verdict {
    let Input::Replied { reply, .. } = &step.entry.input else { return Ok(()) };
    let runs =
        |record: &Record| matches!(record, Record::RoundOpened { .. } | Record::ReplyKept {});
    let ran = reply.stop_reason == StopReason::Refusal && step.entry.records.iter().any(runs);
    ensure(!ran, || "a refused reply was used".to_owned())
}

fn notes_are_single(step: &Step<'_>) -> Verdict {
    let count = |what: fn(&Record) -> bool| step.entry.records.iter().filter(|r| what(r)).count();
    let noted = count(|record| matches!(record, Record::Noted { .. }));
    let kept = count(|record| matches!(record, Record::ReplyKept {} | Record::RoundOpened { .. }));
    // The time may be up while the reply is read: then the model is told so as well.
    let summing_up = count(is_sum_up);
    ensure(noted <= 1 + summing_up && kept <= 1, || format!("{noted} notes, {kept} times kept"))
}

fn is_sum_up(record: &Record) -> bool {
    matches!(record, Record::Asked { transition: Transition::SumUp, .. })
}
