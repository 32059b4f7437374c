//! Mail is answered for: whatever is drained leaves exactly one record that names it.

use windlass_core::Input;
use windlass_core::mail::{Mail, MailBody};
use windlass_core::record::{Record, Stop};

use super::{OfStep, Step, Verdict, ensure};

pub(super) const STEPS: &[OfStep] =
    &[("every mail leaves one record", mail_leaves_one_record)];

fn mail_leaves_one_record(step: &Step<'_>) -> Verdict {
    let Input::Received { mail } = &step.entry.input else { return Ok(()) };
    for mail in mail {
        let count = |which: fn(&Record, &Mail) -> bool| {
            step.entry.records.iter().filter(|record| which(record, mail)).count()
        };
        let named = match count(names) {
            0 => count(ends_unbegun),
            named => named,
        };
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
        (MailBody::Cancel { .. }, Record::CancelRequested { mail: id, how }) => {
            *id == mail.id && *how == Stop::Cancel
        }
        (MailBody::Abort { .. }, Record::CancelRequested { mail: id, how }) => {
            *id == mail.id && *how == Stop::Abort
        }
        _ => false,
    }
}

/// The cancel of a run that has not begun is recorded as the run's end.
fn ends_unbegun(record: &Record, mail: &Mail) -> bool {
    match (&mail.body, record) {
        (
            MailBody::Cancel { run: target } | MailBody::Abort { run: target },
            Record::Finished { run, .. },
        ) => target.as_ref() == Some(run),
        _ => false,
    }
}
