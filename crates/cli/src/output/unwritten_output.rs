//! What is said when the output of a run cannot be written: the disk is full, or the reader is gone.

use std::io;
use std::process::ExitCode;

use windlass::Session;

use crate::exit::ExitReason;
use crate::messages;
use crate::terminal::print_note;

/// Reports that the answer could not be written; it is in the store. If the reader went away,
/// nothing is printed.
pub(super) fn report_unwritten_answer(
    error: anyhow::Error,
    session: &Session,
) -> anyhow::Result<ExitCode> {
    match error.downcast::<io::Error>() {
        Ok(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                print_note(&messages::answer_output_failed(&error, session.lane()));
            }
            Ok(ExitReason::Failure.to_exit_code())
        }
        Err(error) => Err(error),
    }
}

/// Reports that the output could not be written, for example because the disk is full. If the
/// reader went away, nothing is printed.
pub(super) fn report_unwritten(error: &io::Error, session: &Session) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        print_note(&messages::output_failed(error, session.lane()));
    }
}
