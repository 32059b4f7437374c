//! `windlass resume`: continues interrupted runs.

use std::process::ExitCode;

use anyhow::bail;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::message::content_block::ContentBlock;
use windlass::ports::Store;

use crate::args::AgentArgs;
use crate::commands::send_command::{AfterSend, PendingCommand, SentReport};
use crate::inspect::id_lookup;
use crate::messages;
use crate::setup::{self, ModelNeed};

pub(crate) async fn run(
    id: Option<&str>,
    agent: &AgentArgs,
    then: AfterSend,
) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(&agent.store).await?;
    let lane = id_lookup::find_target(store.as_ref(), id, &agent.permissions.workspace).await?.lane;
    if !has_prompt(store.as_ref(), &lane).await? {
        bail!(messages::action::no_prompt_yet(&lane));
    }
    let command = continuation_prompt(store.as_ref(), &lane).await?;
    if command.is_none() && then == AfterSend::Detach {
        // Makes the lane due, so that workers find it.
        store.wake_lane(lane.clone()).await?;
    }
    let report = SentReport::new(&lane, messages::action::queued_for_worker(&lane));
    let sending = PendingCommand { lane, command, report, model_need: ModelNeed::Required };
    sending.send(store, agent, then).await
}

/// The prompt with which a run that stopped at a limit continues: such a run has ended, so it
/// continues as the next run of its conversation. A run that ended for a reason that cannot be
/// resumed is not started again.
async fn continuation_prompt(
    store: &dyn Store,
    lane: &LaneId,
) -> anyhow::Result<Option<InboxCommand>> {
    let is_idle =
        store.lane_info(lane.clone()).await?.is_some_and(|lane| lane.active_run.is_none());
    let last = store.list_runs(Some(lane.clone()), 1).await?.pop();
    let Some(last) = last.filter(|_| is_idle) else { return Ok(None) };
    match last.cause {
        None => Ok(None),
        Some(cause) if cause.is_resumable() => {
            let (run, blocks) =
                (RunId::from(setup::new_id()), vec![ContentBlock::text(messages::CONTINUE_PROMPT)]);
            Ok(Some(InboxCommand::prompt(run, blocks)))
        }
        Some(_) => bail!(messages::action::not_resumable(&last)),
    }
}

/// Returns whether a prompt was sent: a sender creates the conversation first and may die before it
/// sends.
async fn has_prompt(store: &dyn Store, lane: &LaneId) -> anyhow::Result<bool> {
    let has_begun = store.lane_info(lane.clone()).await?.is_some_and(|lane| lane.head > 0);
    Ok(has_begun || !store.read_inbox(lane.clone(), 1).await?.is_empty())
}
