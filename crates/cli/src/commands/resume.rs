//! `windlass resume`: continues interrupted runs.

use std::process::ExitCode;

use anyhow::bail;
use windlass::{ResumeRequest, request_resume};

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
    let command = match request_resume(store.as_ref(), &lane).await? {
        ResumeRequest::ActiveRun => None,
        ResumeRequest::NextRun(_, prompt) => Some(*prompt),
        ResumeRequest::NotResumable(last) => bail!(messages::action::not_resumable(&last)),
        ResumeRequest::NoPrompt => bail!(messages::action::no_prompt_yet(&lane)),
    };
    if command.is_none() && then == AfterSend::Detach {
        // Makes the lane due, so that workers find it.
        store.wake_lane(lane.clone()).await?;
    }
    let report = SentReport::new(&lane, messages::action::queued_for_worker(&lane));
    let sending = PendingCommand { lane, command, report, model_need: ModelNeed::Required };
    sending.send(store, agent, then).await
}
