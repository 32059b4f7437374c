//! Invariants of commands: whatever is read from the inbox leaves exactly one record that names it.

use windlass_core::call::call_state::Call;
use windlass_core::context::Summariser;
use windlass_core::log::ids::{InboxMessageId, RunId, UnixMillis};
use windlass_core::log::inbox::{AfterDenial, HumanAnswer, InboxCommand, InboxMessage};
use windlass_core::log::record::{Record, StopMode};
use windlass_core::message::transcript::SegmentKind;
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::ChildResult;
use windlass_core::run::question::Question;
use windlass_core::{Conversation, Input};

use super::{
    InvariantResult, RecordInvariant, RecordUnderTest, StepInvariant, StepUnderTest, ensure,
};
use crate::explore::ledger::answer_in;

pub(super) const STEPS: &[StepInvariant] = &[
    ("every inbox message leaves one record", mail_leaves_one_record),
    ("a denial that ends the run is obeyed", interrupt_is_obeyed),
];

pub(super) const FACTS: &[RecordInvariant] = &[
    ("an inbox message is rejected only for a reason", refused_rightly),
    ("a compaction is requested only where something can be left out", room_asked_rightly),
];

fn mail_leaves_one_record(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::CommandsReceived { messages } = &step.entry.input else { return Ok(()) };
    for mail in messages {
        let count = |which: fn(&Record, &InboxMessage) -> bool| {
            step.entry.records.iter().filter(|record| which(record, mail)).count()
        };
        let named = match count(names) {
            0 => count(ends_unbegun),
            named => named,
        };
        ensure(named == 1, || format!("{named} records name message {} {:?}", mail.id, mail.body))?;
    }
    Ok(())
}

fn interrupt_is_obeyed(step: &StepUnderTest<'_>) -> InvariantResult {
    let Input::CommandsReceived { messages } = &step.entry.input else { return Ok(()) };
    let ends = |mail: &&InboxMessage| {
        let accepted = Record::QuestionAnswered { message: mail.id };
        let answer = match &mail.body {
            InboxCommand::Answer { answer, .. } => Some(answer),
            _ => None,
        };
        let interrupts =
            matches!(answer, Some(HumanAnswer::Deny { then: AfterDenial::Interrupt, .. }));
        interrupts && step.entry.records.contains(&accepted)
    };
    let was = step.before.run.as_ref().map(|run| &run.id);
    let same = step.after.run.as_ref().filter(|run| Some(&run.id) == was);
    let stops = |run: &Run| run.stop_request.is_some_and(|stop| stop.mode == StopMode::Abort);
    let asked = messages.iter().find(ends);
    ensure(asked.is_none() || same.is_none_or(stops), || "the run goes on".to_owned())
}

fn names(record: &Record, mail: &InboxMessage) -> bool {
    match (&mail.body, record) {
        (_, Record::CommandRejected { message: id, .. }) => *id == mail.id,
        (InboxCommand::Prompt { .. }, Record::PromptQueued { message: id }) => *id == mail.id,
        (
            InboxCommand::Steer { .. },
            Record::PromptQueued { message: id } | Record::SteeringQueued { message: id },
        ) => *id == mail.id,
        (
            InboxCommand::ChildFinished { result: None, .. },
            Record::SteeringQueued { message: id },
        ) => *id == mail.id,
        (InboxCommand::ChildFinished { .. }, Record::ChildResultReceived { message: id }) => {
            *id == mail.id
        }
        (InboxCommand::Task { .. }, Record::ParentAssigned { message: id }) => *id == mail.id,
        (InboxCommand::Compact { run: None, .. }, Record::CompactionRequested { message: id }) => {
            *id == mail.id
        }
        (InboxCommand::Compact { run: Some(_), .. }, Record::PromptQueued { message: id }) => {
            *id == mail.id
        }
        (InboxCommand::Memory { .. }, Record::InstructionsAdded { message: id }) => *id == mail.id,
        (InboxCommand::Answer { .. }, Record::QuestionAnswered { message: id }) => *id == mail.id,
        (
            InboxCommand::UpdatePermissions { .. },
            Record::PermissionsUpdated { message: id, .. },
        ) => *id == mail.id,
        (InboxCommand::SetModel { .. }, Record::ModelChangeRequested { message: id }) => {
            *id == mail.id
        }
        (InboxCommand::Cancel { .. }, Record::CancelRequested { message: id, mode }) => {
            *id == mail.id && *mode == StopMode::Cancel
        }
        (InboxCommand::Abort { .. }, Record::CancelRequested { message: id, mode }) => {
            *id == mail.id && *mode == StopMode::Abort
        }
        _ => false,
    }
}

/// The cancel of a run that has not started is recorded as the run's end.
fn ends_unbegun(record: &Record, mail: &InboxMessage) -> bool {
    match (&mail.body, record) {
        (
            InboxCommand::Cancel { run: target } | InboxCommand::Abort { run: target, .. },
            Record::RunFinished { run, .. },
        ) => target.as_ref() == Some(run),
        _ => false,
    }
}

fn refused_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::CommandRejected { message: id, .. } = fact.record else { return Ok(()) };
    let Input::CommandsReceived { messages } = &fact.entry.input else { return Ok(()) };
    let Some(mail) = messages.iter().find(|mail| mail.id == *id) else { return Ok(()) };
    let now = fact.now;
    let useful = match &mail.body {
        InboxCommand::Prompt { run, .. } => has_room(now, run),
        InboxCommand::Steer { run, .. } if goes_on(now).is_none() => has_room(now, run),
        InboxCommand::Steer { .. } => goes_on(now).is_some_and(|run| run.steers.is_empty()),
        InboxCommand::Answer { .. } => {
            answer_in(now, &fact.entry.input, *id)
                .is_some_and(|(question, answer)| is_good(now, question, answer, fact.entry.at))
                && !is_cancelled_after(now, messages, *id)
        }
        InboxCommand::Cancel { run } => can_stop(now, run.as_ref(), StopMode::Cancel),
        InboxCommand::Abort { run, .. } => can_stop(now, run.as_ref(), StopMode::Abort),
        InboxCommand::ChildFinished { result: Some(home), .. } => is_awaited(now, home),
        InboxCommand::ChildFinished { .. } => goes_on(now).is_some_and(|run| run.steers.is_empty()),
        InboxCommand::Task { run, .. } => has_room(now, run) && now.parent.is_none(),
        InboxCommand::Compact { run: None, .. } => can_leave_out(now),
        InboxCommand::Compact { run: Some(run), .. } => has_room(now, run) && !is_summed_up(now),
        InboxCommand::Memory { text } => !text.trim().is_empty() && can_remember(now),
        // The explored models have no price, and no cap is on money.
        InboxCommand::UpdatePermissions { updates } => !updates.is_empty(),
        InboxCommand::SetModel { change } => change.models.is_some(),
        InboxCommand::ReplaceHistory { messages, .. } => {
            !messages.is_empty() && now.run.is_none() && now.prompt_queue.is_empty()
        }
    };
    ensure(!useful, || format!("{:?}", mail.body))
}

/// Whether a later message of the same batch cancels the active run.
fn is_cancelled_after(now: &Conversation, messages: &[InboxMessage], id: InboxMessageId) -> bool {
    let active = now.run.as_ref().map(|run| &run.id);
    messages.iter().skip_while(|message| message.id != id).any(|message| match &message.body {
        InboxCommand::Cancel { run } | InboxCommand::Abort { run, .. } => {
            run.is_none() || run.as_ref() == active
        }
        _ => false,
    })
}

/// Whether a compaction would remove anything: the last messages stay, and so do instructions and
/// the user's messages of the run.
fn can_leave_out(c: &Conversation) -> bool {
    let Some(settings) = &c.settings else { return false };
    let kept = settings.limits.kept_messages;
    let prompts = c.run.as_ref().map_or(0, |run| run.user_message_count);
    let cut = c.transcript.cut_point(kept);
    cut.is_some_and(|cut| c.transcript.protected_segments(cut, prompts).len() < cut)
}

/// Whether a compaction between two runs would remove nothing: only instructions are there, or,
/// without a summariser, no message is old enough.
fn is_summed_up(c: &Conversation) -> bool {
    let Some(settings) = &c.settings else { return true };
    match settings.window.summariser {
        Summariser::Off => !can_leave_out(c),
        Summariser::OwnModel | Summariser::Model(_) => {
            c.transcript.segments().iter().all(|segment| segment.kind == SegmentKind::Memory)
        }
    }
}

fn room_asked_rightly(fact: &RecordUnderTest<'_>) -> InvariantResult {
    let Record::CompactionRequested { .. } = fact.record else { return Ok(()) };
    ensure(can_leave_out(fact.now), || "there is nothing old".to_owned())
}

/// Whether the question accepts the answer, it is in time, and it is about the input that would
/// run.
pub(super) fn is_good(
    c: &Conversation,
    question: &Question,
    answer: &HumanAnswer,
    at: UnixMillis,
) -> bool {
    let HumanAnswer::Allow { input_hash: Some(seen), .. } = answer else {
        return question.kind.accepts(answer) && !question.is_expired(at);
    };
    let call = question.kind.call().and_then(|call| c.input_hash(call));
    question.kind.accepts(answer) && !question.is_expired(at) && call.as_deref() == Some(&**seen)
}

/// Whether a call waits for this child.
fn is_awaited(c: &Conversation, home: &ChildResult) -> bool {
    let call = c.run.as_ref().and_then(Run::round).and_then(|round| round.call(home.call));
    let place = call
        .and_then(Call::pending_children)
        .and_then(|away| away.replies.get(usize::from(home.part)));
    place.is_some_and(Option::is_none)
}

fn can_remember(c: &Conversation) -> bool {
    let most = c.settings.as_ref().map_or(0, |settings| settings.limits.waiting_steers);
    c.run.as_ref().is_none_or(|run| run.memories.len() < most as usize)
}

/// Returns the active run, if no stop was requested.
fn goes_on(c: &Conversation) -> Option<&Run> {
    c.run.as_ref().filter(|run| run.stop_request.is_none())
}

fn has_room(c: &Conversation, id: &RunId) -> bool {
    let most = c.settings.as_ref().map_or(0, |settings| settings.limits.queued_prompts);
    let active = c.run.as_ref().is_some_and(|run| run.id == *id);
    let ended = c.last_run_end.as_ref().is_some_and(|end| end.run == *id);
    let waits = c.prompt_queue.iter().any(|queued| queued.run == *id);
    c.prompt_queue.len() < most as usize && !active && !ended && !waits && id.as_str() != "empty"
}

fn can_stop(c: &Conversation, target: Option<&RunId>, how: StopMode) -> bool {
    let active = c.run.as_ref().filter(|run| target.is_none_or(|target| *target == run.id));
    let waits = c.prompt_queue.iter().any(|queued| Some(&queued.run) == target);
    waits || active.is_some_and(|run| run.stop_request.is_none_or(|stop| stop.mode < how))
}
