//! Checks of inbox commands: an accepted command is read once, and something is recorded about it.

use std::collections::BTreeMap;

use windlass_core::log::ids::InboxMessageId;
use windlass_core::log::inbox::{InboxCommand, InboxMessage};
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;

use super::history::{HistoryStep, LaneHistory};
use super::{CheckedWorld, ensure};

pub(super) fn read_once(case: &CheckedWorld<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut readings: BTreeMap<InboxMessageId, usize> = BTreeMap::new();
        for (step, mail) in received_commands(history) {
            *readings.entry(mail.id).or_default() += 1;
            ensure(is_answered_for(step, mail), || at(history, mail.id, "no record names it"))?;
        }
        let accepted = case.evidence.seen.mail.get(history.lane()).into_iter().flatten();
        for mail in accepted.chain(readings.keys()) {
            let times = readings.get(mail).copied().unwrap_or(0);
            ensure(times == 1, || at(history, *mail, &format!("read {times} times")))?;
        }
        let waits = history.evidence.waiting.first();
        ensure(waits.is_none(), || at(history, waits.map_or(0, |mail| mail.id), "still waits"))?;
    }
    Ok(())
}

fn at(history: &LaneHistory<'_>, mail: InboxMessageId, what: &str) -> String {
    format!("{} message {mail}: {what}", history.lane())
}

fn received_commands<'a>(
    history: &'a LaneHistory<'_>,
) -> impl Iterator<Item = (&'a HistoryStep, &'a InboxMessage)> {
    history.steps.iter().flat_map(|step| {
        let mail = match step.input() {
            Input::CommandsReceived { messages } => messages.as_slice(),
            _ => &[],
        };
        mail.iter().map(move |mail| (step, mail))
    })
}

fn is_answered_for(step: &HistoryStep, mail: &InboxMessage) -> bool {
    step.entry.records.iter().any(|record| match record {
        Record::PromptQueued { message: named }
        | Record::CommandRejected { message: named, .. }
        | Record::SteeringQueued { message: named }
        | Record::QuestionAnswered { message: named }
        | Record::CompactionRequested { message: named }
        | Record::InstructionsAdded { message: named }
        | Record::HistoryReplaced { message: named }
        | Record::CancelRequested { message: named, .. } => *named == mail.id,
        // A queued prompt that is cancelled ends without having run.
        Record::RunFinished { run, .. } => ends(&mail.body, run),
        _ => false,
    })
}

fn ends(body: &InboxCommand, ended: &windlass_core::log::ids::RunId) -> bool {
    match body {
        InboxCommand::Cancel { run } | InboxCommand::Abort { run, .. } => {
            run.as_ref() == Some(ended)
        }
        InboxCommand::Prompt { .. }
        | InboxCommand::Steer { .. }
        | InboxCommand::Answer { .. }
        | InboxCommand::ChildFinished { .. }
        | InboxCommand::Task { .. }
        | InboxCommand::Compact { .. }
        | InboxCommand::Memory { .. }
        | InboxCommand::UpdatePermissions { .. }
        | InboxCommand::SetModel { .. }
        | InboxCommand::ReplaceHistory { .. } => false,
    }
}
