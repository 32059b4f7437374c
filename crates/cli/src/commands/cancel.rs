//! `windlass cancel`: requests the cancellation of a run.

use std::process::ExitCode;

use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::stop::RunState;
use windlass::ports::{RunInfo, Store};

use crate::args::AgentArgs;
use crate::commands::send_command::{AfterSend, PendingCommand, SentReport};
use crate::inspect::id_lookup::{self, RunTarget};
use crate::messages;
use crate::setup::{self, ModelNeed};

pub(crate) async fn run(
    id: Option<&str>,
    agent: &AgentArgs,
    then: AfterSend,
) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&agent.store).await?;
    let found = id_lookup::find_target(store.as_ref(), id, &agent.permissions.workspace).await?;
    let lane = found.lane.clone();
    let run = match find_target(store.as_ref(), &found).await? {
        CancelTarget::Unfinished(run) => run,
        CancelTarget::Finished(run) => {
            SentReport::new(&lane, messages::action::already_finished(&run))
                .print(&agent.output)?;
            return Ok(ExitCode::SUCCESS);
        }
        CancelTarget::NoRun => return report_no_run(&lane, agent),
    };
    let report = SentReport::new(&lane, messages::action::cancel_requested(&lane, &run));
    // A cancelled run makes no model call.
    let command = Some(InboxCommand::Cancel { run: Some(run) });
    let ended = PendingCommand { lane, command, report, model_need: ModelNeed::NotNeeded };
    ended.send(store, agent, then).await?;
    Ok(ExitCode::SUCCESS)
}

/// Reports that there is nothing to cancel, which is not an error.
pub(crate) fn report_no_run(lane: &LaneId, agent: &AgentArgs) -> anyhow::Result<ExitCode> {
    SentReport::new(lane, messages::action::no_run_to_cancel(lane)).print(&agent.output)?;
    Ok(ExitCode::SUCCESS)
}

enum CancelTarget {
    Unfinished(RunId),
    Finished(Box<RunInfo>),
    NoRun,
}

/// The run to cancel: the named one or, for a named conversation, its active run, else the next one
/// in its queue.
async fn find_target(store: &dyn Store, found: &RunTarget) -> anyhow::Result<CancelTarget> {
    let runs = store.list_runs(Some(found.lane.clone()), usize::MAX).await?;
    if let Some(named) = &found.run {
        return Ok(match runs.into_iter().find(|run| run.run == *named) {
            Some(run) if run.cause.is_some() => CancelTarget::Finished(Box::new(run)),
            Some(_) | None => CancelTarget::Unfinished(named.clone()),
        });
    }
    let unfinished: Vec<RunInfo> = runs.into_iter().filter(|run| run.cause.is_none()).collect();
    let active = unfinished.iter().find(|run| run.state != RunState::Queued);
    let next = active.or(unfinished.last()).map(|run| run.run.clone());
    Ok(next.map_or(CancelTarget::NoRun, CancelTarget::Unfinished))
}
