//! `windlass cancel`: asks the active run to end.

use std::process::ExitCode;

use windlass::core::mail::MailBody;

use crate::args::AgentArgs;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::{acts, find};
use crate::setup::{self, Asks};

pub(crate) async fn cancel(
    id: Option<&str>,
    agent: &AgentArgs,
    then: Then,
) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&agent.store).await?;
    let lane = find::find(store.as_ref(), id, &agent.permissions.workspace).await?.lane;
    let active = store.lane(lane.clone()).await?.and_then(|lane| lane.active_run);
    if active.is_none() {
        Left::new(&lane, acts::nothing_to_end(&lane)).say(&agent.output)?;
        return Ok(ExitCode::SUCCESS);
    }
    let left = Left::new(&lane, acts::asked_to_end(&lane));
    // A run that ends asks no model.
    let mail = Some(MailBody::Cancel { run: None });
    let ended = Sending { lane: lane.clone(), mail, left, asks: Asks::Nobody };
    ended.send(store, agent, then).await?;
    Ok(ExitCode::SUCCESS)
}
