//! Whether a log could be told to its end.

use std::process::ExitCode;

use super::story::Story;
use crate::show;

/// Says where a log that was shown cannot be read on. Exit code 0 means that it was read whole.
pub(crate) fn told(story: &Story) -> ExitCode {
    match &story.damage {
        None => ExitCode::SUCCESS,
        Some(damage) => {
            show::note(&format!("windlass: {}: {damage}", story.lane));
            ExitCode::FAILURE
        }
    }
}
