//! `windlass resume`: goes on with what was left in the middle.

use std::process::ExitCode;

use anyhow::bail;
use windlass::core::ids::LaneId;
use windlass::ports::Store;

use crate::args::AgentArgs;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::{acts, find};
use crate::setup::{self, Asks};

pub(crate) async fn resume(
    id: Option<&str>,
    agent: &AgentArgs,
    then: Then,
) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&agent.store).await?;
    let lane = find::find(store.as_ref(), id, &agent.permissions.workspace).await?.lane;
    if !was_asked(store.as_ref(), &lane).await? {
        bail!(acts::never_asked(&lane));
    }
    let left = Left::new(&lane, acts::left_to_others(&lane));
    let sending = Sending { lane, mail: None, left, asks: Asks::Model };
    sending.send(store, agent, then).await
}

/// A sender makes the conversation before it sends, and may die in between.
async fn was_asked(store: &dyn Store, lane: &LaneId) -> anyhow::Result<bool> {
    let has_begun = store.lane(lane.clone()).await?.is_some_and(|lane| lane.head > 0);
    Ok(has_begun || !store.read_mail(lane.clone(), 1).await?.is_empty())
}
