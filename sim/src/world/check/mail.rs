//! Mail: accepted means it will be read, once, and something is settled about it.

use std::collections::BTreeMap;

use windlass_core::ids::MailId;
use windlass_core::input::Input;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::record::Record;

use super::history::{History, Step};
use super::{Case, ensure};

pub(super) fn read_once(case: &Case<'_>) -> Result<(), String> {
    for history in &case.histories {
        let mut readings: BTreeMap<MailId, usize> = BTreeMap::new();
        for (step, mail) in received(history) {
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

fn at(history: &History<'_>, mail: MailId, what: &str) -> String {
    format!("{} mail {mail}: {what}", history.lane())
}

fn received<'a>(history: &'a History<'_>) -> impl Iterator<Item = (&'a Step, &'a Mail)> {
    history.steps.iter().flat_map(|step| {
        let mail = match step.input() {
            Input::Received { mail } => mail.as_slice(),
            _ => &[],
        };
        mail.iter().map(move |mail| (step, mail))
    })
}

fn is_answered_for(step: &Step, mail: &Mail) -> bool {
    step.entry.records.iter().any(|record| match record {
        Record::Queued { mail: named }
        | Record::MailRefused { mail: named, .. }
        | Record::Steered { mail: named }
        | Record::Answered { mail: named }
        | Record::CompactionAsked { mail: named }
        | Record::Remembered { mail: named }
        | Record::CancelRequested { mail: named, .. } => *named == mail.id,
        // A prompt that is cancelled while it waits ends without having run.
        Record::Finished { run, .. } => ends(&mail.body, run),
        _ => false,
    })
}

fn ends(body: &MailBody, ended: &windlass_core::ids::RunId) -> bool {
    match body {
        MailBody::Cancel { run } | MailBody::Abort { run } => run.as_ref() == Some(ended),
        MailBody::Prompt { .. }
        | MailBody::Steer { .. }
        | MailBody::Answer { .. }
        | MailBody::ChildFinished { .. }
        | MailBody::Task { .. }
        | MailBody::Compact { .. }
        | MailBody::Memory { .. } => false,
    }
}
