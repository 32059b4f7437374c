//! Inbox messages that nobody has read yet, as lists of runs show them: a prompt is a queued run, and
//! a run whose cancel lies unread was asked to end. No row is written for them, so there is none to
//! be taken back when a prompt is refused.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_core::ids::{LaneId, Millis, RunId};
use windlass_core::mail::MailBody;
use windlass_core::project::RunDescription;
use windlass_core::stop::RunState;
use windlass_runtime::ports::RunInfo;

use crate::names::is_active;

/// The kinds of message that say something about a run.
pub(crate) const KINDS: [&str; 3] = ["prompt", "cancel", "abort"];

/// A message that waits.
pub(crate) struct PendingMessage {
    pub(crate) lane: LaneId,
    pub(crate) at: Millis,
    pub(crate) body: MailBody,
    /// The folder and the agent of its lane; empty for none.
    pub(crate) folder: Arc<str>,
    pub(crate) agent: Arc<str>,
}

/// Adds what is pending to the runs that have rows, which are newest first as `pending` is.
pub(crate) fn merge(
    mut runs: Vec<RunInfo>,
    pending: Vec<PendingMessage>,
    most: usize,
) -> Vec<RunInfo> {
    let mut queued: Vec<RunInfo> = Vec::new();
    let mut cancelled: HashMap<LaneId, Vec<Option<RunId>>> = HashMap::new();
    for message in pending {
        match &message.body {
            MailBody::Prompt { run, blocks, .. } if !runs.iter().any(|known| known.run == *run) => {
                let description = RunDescription::from_prompt(blocks);
                queued.push(queued_run(run.clone(), description, &message));
            }
            MailBody::Cancel { run } | MailBody::Abort { run } => {
                cancelled.entry(message.lane).or_default().push(run.clone());
            }
            MailBody::Prompt { .. }
            | MailBody::Steer { .. }
            | MailBody::Answer { .. }
            | MailBody::ChildFinished { .. }
            | MailBody::Task { .. }
            | MailBody::Compact { .. }
            | MailBody::Memory { .. } => {}
        }
    }
    queued.append(&mut runs);
    queued.truncate(most);
    for run in &mut queued {
        let named = cancelled.get(&run.lane).into_iter().flatten();
        run.cancel_requested |= run.cause.is_none() && asks_to_end(run, named);
    }
    queued
}

/// Whether one of these targets means the run; a cancel that names none means the active one.
fn asks_to_end<'a>(run: &RunInfo, mut targets: impl Iterator<Item = &'a Option<RunId>>) -> bool {
    targets.any(|target| match target {
        Some(target) => *target == run.run,
        None => is_active(run.state) || run.state == RunState::TimedOut,
    })
}

fn queued_run(run: RunId, description: RunDescription, message: &PendingMessage) -> RunInfo {
    let given = |text: &Arc<str>| (!text.is_empty()).then(|| text.clone());
    RunInfo {
        run,
        lane: message.lane.clone(),
        state: RunState::Queued,
        cause: None,
        text: None,
        at: message.at,
        resume_available: false,
        cancel_requested: false,
        description: RunDescription {
            folder: given(&message.folder),
            agent: given(&message.agent),
            ..description
        },
        usd_micros: None,
    }
}
