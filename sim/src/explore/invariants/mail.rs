//! Mail is answered for: whatever is drained leaves exactly one record that names it.

use windlass_core::Input;
use windlass_core::ids::MailId;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::record::{Record, Stop};

use super::{Named, Step, Verdict, ensure};

pub(super) const STEPS: &[Named<Step<'_>>] =
    &[("every mail leaves one record", mail_leaves_one_record)];

fn mail_leaves_one_record(step: &Step<'_>) -> Verdict {
    let Input::Received { mail } = &step.entry.input else { return Ok(()) };
    for mail in mail {
        let named = step.entry.records.iter().filter(|record| names(record, mail)).count();
        ensure(named == 1, || format!("{named} records name mail {} {:?}", mail.id, mail.body))?;
    }
    Ok(())
}

fn names(record: &Record, mail: &Mail) -> bool {
    match (&mail.body, record) {
        (_, Record::MailRefused { mail: id, .. }) => *id == mail.id,
        (MailBody::Prompt { .. }, Record::Queued { mail: id }) => *id == mail.id,
        (MailBody::Steer { .. }, Record::Queued { mail: id } | Record::Steered { mail: id }) => {
            *id == mail.id
        }
        (MailBody::ChildFinished { .. }, Record::Steered { mail: id }) => *id == mail.id,
        (MailBody::Answer { .. }, Record::Answered { mail: id }) => *id == mail.id,
        (MailBody::Cancel { run }, record) => stops(record, mail.id, Stop::Cancel, run.as_ref()),
        (MailBody::Abort { run }, record) => stops(record, mail.id, Stop::Abort, run.as_ref()),
        _ => false,
    }
}

/// A cancel is recorded as such, or, if its run has not begun, as the run's end.
fn stops(
    record: &Record,
    id: MailId,
    wanted: Stop,
    target: Option<&windlass_core::ids::RunId>,
) -> bool {
    match record {
        Record::CancelRequested { mail, how } => *mail == id && *how == wanted,
        Record::Finished { run, .. } => Some(run) == target,
        _ => false,
    }
}
