//! `windlass resume`: goes on with what was left in the middle.

use std::process::ExitCode;

use crate::args::AgentArgs;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::{acts, find};
use crate::setup::{self, Asks};

pub(crate) async fn resume(id: &str, agent: &AgentArgs, then: Then) -> anyhow::Result<ExitCode> {
    let store = setup::store(&agent.store).await?;
    let lane = find::find(store.as_ref(), id).await?.lane;
    let left = Left::new(&lane, acts::left_to_others(&lane));
    let sending = Sending { lane, mail: None, left, asks: Asks::Model };
    sending.send(store, agent, then).await
}
