//! Unread inbox messages as lists of runs show them: a prompt is a queued run, and an unread cancel
//! marks its run. No row is written for them, so there is none to delete when a prompt is rejected.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_core::log::ids::{LaneId, RunId, UnixMillis};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::projection::RunDescription;
use windlass_core::stop::RunState;
use windlass_runtime::ports::RunInfo;

use crate::column_values::is_active;

/// The kinds of message that concern a run.
pub(crate) const RUN_MESSAGE_KINDS: [&str; 3] = ["prompt", "cancel", "abort"];

/// An unread message.
pub(crate) struct PendingMessage {
    pub(crate) lane: LaneId,
    pub(crate) at: UnixMillis,
    pub(crate) body: InboxCommand,
    /// The folder and the agent of its lane; empty for none.
    pub(crate) folder: Arc<str>,
    pub(crate) agent: Arc<str>,
    /// The tenant of its lane.
    pub(crate) tenant: Arc<str>,
}

/// Adds pending messages to the runs that have rows; both are newest first.
pub(crate) fn merge_pending(
    mut runs: Vec<RunInfo>,
    pending: Vec<PendingMessage>,
    limit: usize,
) -> Vec<RunInfo> {
    let mut queued: Vec<RunInfo> = Vec::new();
    let mut cancelled: HashMap<LaneId, Vec<Option<RunId>>> = HashMap::new();
    for message in pending {
        match &message.body {
            InboxCommand::Prompt { run, blocks, .. }
                if !runs.iter().any(|known| known.run == *run) =>
            {
                let description = RunDescription::from_prompt(blocks);
                queued.push(queued_run(run.clone(), description, &message));
            }
            InboxCommand::Cancel { run } | InboxCommand::Abort { run, .. } => {
                cancelled.entry(message.lane).or_default().push(run.clone());
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
            | InboxCommand::ReplaceHistory { .. } => {}
        }
    }
    queued.append(&mut runs);
    queued.truncate(limit);
    for run in &mut queued {
        let named = cancelled.get(&run.lane).into_iter().flatten();
        run.cancel_requested |= run.cause.is_none() && is_cancel_target(run, named);
    }
    queued
}

/// Returns whether one of these cancels targets the run; a cancel without a target means the active
/// run.
fn is_cancel_target<'a>(
    run: &RunInfo,
    mut targets: impl Iterator<Item = &'a Option<RunId>>,
) -> bool {
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
        tenant: message.tenant.clone(),
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
