//! Invariants of model calls, their replies, and steering messages.

use windlass_core::log::inbox::{HumanAnswer, InboxCommand, InboxMessage};
use windlass_core::log::record::{EarlyStart, Record, Transition};
use windlass_core::message::reply::StopReason;
use windlass_core::message::transcript::{Role, SegmentKind};
use windlass_core::run::active_run::{Run, RunPhase};
use windlass_core::{Conversation, Input};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};

pub(super) const FACTS: &[RecordInvariant] = &[
    ("the model is called only between two steps", asked_from_between),
    ("a model call has its own number", asks_are_numbered),
    ("a request ends with what is to be answered", request_ends_with_user),
    ("a reply answers the call in flight", reply_fits),
    ("a pause is for a passing failure and bounded", pause_is_bounded),
    ("a block runs early at most once", early_once),
    ("the model changes when that was requested, before the next call", model_changes_rightly),
    ("no reply is requested beyond their limit", replies_are_counted),
];

pub(super) const STEPS: &[StepInvariant] = &[
    ("what a person said reaches the model", steers_are_heard),
    ("a refused reply runs nothing", refusal_runs_nothing),
    ("a reply is in the transcript once", notes_are_single),
];

fn asking(c: &Conversation) -> Option<&windlass_core::run::active_run::PendingModelCall> {
    c.run.as_ref().and_then(Run::pending_model_call)
}

fn asked_from_between(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { .. } = fact.record else { return Ok(()) };
    let ready = fact.now.run.as_ref().is_some_and(|run| match run.phase {
        RunPhase::Deciding | RunPhase::AwaitingRetry { .. } => run.stop_request.is_none(),
        RunPhase::CallingModel(_)
        | RunPhase::RunningTools(_)
        | RunPhase::InReview(_)
        | RunPhase::Paused(_) => false,
    });
    ensure(ready, || format!("asked while {}", fact.now.phase_name()))
}

fn model_changes_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let is_due = fact.now.run.as_ref().is_some_and(|run| run.is_model_change_due);
    match fact.record {
        Record::ModelChanged { .. } => ensure(is_due, || "no one requested it".to_owned()),
        Record::ModelCallStarted { .. } => ensure(!is_due, || "the old one is called".to_owned()),
        _ => Ok(()),
    }
}

fn replies_are_counted(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let (Record::ModelCallStarted { .. }, Some(run), Some(settings)) =
        (fact.record, &fact.now.run, &fact.now.settings)
    else {
        return Ok(());
    };
    let log = fact.world.log();
    let records = log.iter().chain([fact.entry]).flat_map(|entry| &entry.records);
    let records: Vec<&Record> = records.collect();
    let starts = |r: &&&Record| matches!(r, Record::RunStarted { run: id } if *id == run.id);
    let of_run = records.iter().rev().take_while(|record| !starts(record));
    let replies = of_run.filter(|record| matches!(record, Record::ModelReplied { .. })).count();
    let most = settings.limits.model_replies.map_or(usize::MAX, |most| most as usize);
    ensure(replies < most, || format!("{replies} of {most} replies"))
}

fn asks_are_numbered(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { model_call, .. } = fact.record else { return Ok(()) };
    ensure(*model_call == fact.now.model_call_count + 1, || {
        format!("{model_call} after {}", fact.now.model_call_count)
    })
}

fn request_ends_with_user(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelCallStarted { transition, .. } = fact.record else { return Ok(()) };
    let goes_on = match transition {
        Transition::Resume | Transition::Retry | Transition::RaiseCap => true,
        Transition::Compacted | Transition::OwnerChanged | Transition::Guidance => true,
        Transition::Prompt | Transition::ToolResults | Transition::ContinueText => false,
        Transition::ReissueToolUse | Transition::Reprompt | Transition::Steer => false,
        Transition::Rejected | Transition::WrapUp => false,
    };
    let steered = fact.now.run.as_ref().is_some_and(|run| !run.steers.is_empty());
    let last = fact.now.transcript.segments().last().map(|segment| segment.role);
    ensure(goes_on || steered || last == Some(Role::User), || format!("{transition:?}: {last:?}"))
}

fn reply_fits(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelReplied { model_call, .. } = fact.record else { return Ok(()) };
    let Input::ModelReplied { model_call: told, .. } = &fact.entry.input else {
        return Err("a reply out of nowhere".to_owned());
    };
    let open = asking(fact.now).map(|asking| asking.model_call);
    ensure(open == Some(*model_call) && model_call == told, || format!("{told} taken for {open:?}"))
}

fn pause_is_bounded(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::ModelRetryScheduled { until, failures } = fact.record else { return Ok(()) };
    let Some(settings) = &fact.now.settings else { return Ok(()) };
    let pause = until.ms_since(fact.entry.at);
    let longest = settings.limits.model_retry_most_ms * 2;
    let before = fact.now.run.as_ref().map_or(0, |run| run.counters.failures);
    let failed = matches!(fact.entry.input, Input::ModelFailed { .. });
    let stopping = fact.now.run.as_ref().is_some_and(|run| run.stop_request.is_some());
    let waits = is_waited_for(fact, settings.limits.provider_wait_ms);
    let few = *failures <= settings.limits.model_retries || waits;
    let bounded = pause <= longest && *failures == before + 1 && few;
    ensure(failed && bounded && !stopping, || format!("{failures} failures, {pause} ms"))
}

/// Whether the provider is down and the wait limit is not reached.
fn is_waited_for(fact: &RecordUnderTest<'_>, most_ms: u64) -> bool {
    let down = fact.now.run.as_ref().and_then(|run| run.provider_down_since);
    down.is_some_and(|since| fact.entry.at.ms_since(since) < most_ms)
}

fn early_once(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::EarlyCallDecided { call, start } = fact.record else { return Ok(()) };
    let stopping = fact.now.run.as_ref().is_some_and(|run| run.stop_request.is_some());
    let again =
        asking(fact.now).is_none_or(|a| a.early_calls.iter().any(|early| early.id == *call));
    let late = stopping && *start == EarlyStart::Started;
    ensure(!again && !late, || format!("call {call} ran ahead wrongly"))
}

/// Whether a run starts that has a prompt: one that only compacts has none.
fn starts_with_prompt(step: &StepUnderTest<'_>, record: &Record) -> bool {
    let Record::RunStarted { run } = record else { return false };
    let queued = step.before.prompt_queue.iter().find(|queued| queued.run == *run);
    let sent = |message: &InboxMessage| matches!(&message.body, InboxCommand::Compact { run: Some(own), .. } if own == run);
    let now = matches!(&step.entry.input, Input::CommandsReceived { messages } if messages.iter().any(sent));
    !now && queued.is_none_or(|queued| queued.compaction.is_none())
}

/// A steering message waits in the run until it enters the transcript, at the latest when the run
/// ends.
fn steers_are_heard(step: &StepUnderTest<'_>) -> InvariantResult {
    let records = &step.entry.records;
    if records.iter().any(|r| matches!(r, Record::Compacted { .. } | Record::Forked { .. })) {
        return Ok(());
    }
    let added = records.iter().filter(|r| matches!(r, Record::SteeringQueued { .. })).count();
    let began = records.iter().filter(|r| starts_with_prompt(step, r)).count();
    let guided = records.iter().filter(|r| says_words(step, r)).count();
    let withdrawn = records.iter().filter(|r| matches!(r, Record::PromptWithdrawn {})).count();
    let due = waiting(step.before) + added + began + guided;
    let heard = prompts(step.after) + withdrawn - prompts(step.before);
    let kept = waiting(step.after);
    ensure(heard + kept == due, || format!("{heard} heard and {kept} kept of {due}"))
}

/// Whether a human answered with text: it is user input, like a prompt.
fn says_words(step: &StepUnderTest<'_>, record: &Record) -> bool {
    let Record::GuidanceGiven { message: id } = record else { return false };
    let Input::CommandsReceived { messages } = &step.entry.input else { return false };
    let answer = messages.iter().find(|mail| mail.id == *id).map(|mail| &mail.body);
    matches!(answer, Some(InboxCommand::Answer { answer: HumanAnswer::Text { .. }, .. }))
}

fn waiting(c: &Conversation) -> usize {
    c.run.as_ref().map_or(0, |run| run.steers.len())
}

fn prompts(c: &Conversation) -> usize {
    c.transcript.segments().iter().filter(|segment| segment.kind == SegmentKind::Prompt).count()
}

fn refusal_runs_nothing(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::ModelReplied { reply, .. } = &step.entry.input else { return Ok(()) };
    let runs =
        |record: &Record| matches!(record, Record::RoundOpened { .. } | Record::ReplyKept {});
    let ran = reply.stop_reason == StopReason::Refusal && step.entry.records.iter().any(runs);
    ensure(!ran, || "a refused reply was used".to_owned())
}

fn notes_are_single(step: &StepUnderTest<'_>) -> InvariantResult {
    let count = |what: fn(&Record) -> bool| step.entry.records.iter().filter(|r| what(r)).count();
    let noted = count(|record| matches!(record, Record::NoteAdded { .. }));
    let kept = count(|record| matches!(record, Record::ReplyKept {} | Record::RoundOpened { .. }));
    // The time limit may be reached while the reply is read: then the model is told so as well.
    let summing_up = count(is_sum_up);
    ensure(noted <= 1 + summing_up && kept <= 1, || format!("{noted} notes, {kept} times kept"))
}

fn is_sum_up(record: &Record) -> bool {
    matches!(record, Record::ModelCallStarted { transition: Transition::WrapUp, .. })
}
