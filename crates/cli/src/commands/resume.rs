//! `windlass resume`: goes on with what was left in the middle.

use std::process::ExitCode;

use anyhow::bail;
use windlass::core::block::Block;
use windlass::core::ids::{LaneId, RunId};
use windlass::core::mail::MailBody;
use windlass::ports::Store;

use crate::args::AgentArgs;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::{acts, find};
use crate::setup::{self, Asks};
use crate::words;

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
    let mail = prompt_to_go_on(store.as_ref(), &lane).await?;
    if mail.is_none() && then == Then::Leave {
        // The run becomes due: that is the job which workers look for.
        store.wake(lane.clone()).await?;
    }
    let left = Left::new(&lane, acts::left_to_others(&lane));
    let sending = Sending { lane, mail, left, asks: Asks::Model };
    sending.send(store, agent, then).await
}

/// A run that stopped at a limit is over: it goes on as the next run of its conversation. One that
/// ended for a reason that cannot be resumed is not begun again.
async fn prompt_to_go_on(store: &dyn Store, lane: &LaneId) -> anyhow::Result<Option<MailBody>> {
    let is_idle = store.lane(lane.clone()).await?.is_some_and(|lane| lane.active_run.is_none());
    let last = store.runs(Some(lane.clone()), 1).await?.pop();
    let Some(last) = last.filter(|_| is_idle) else { return Ok(None) };
    match last.cause {
        None => Ok(None),
        Some(cause) if cause.is_resumable() => {
            let (run, blocks) = (RunId::from(setup::new_id()), vec![Block::text(words::GO_ON)]);
            Ok(Some(MailBody::prompt(run, blocks)))
        }
        Some(_) => bail!(acts::not_resumable(&last)),
    }
}

/// A sender makes the conversation before it sends, and may die in between.
async fn was_asked(store: &dyn Store, lane: &LaneId) -> anyhow::Result<bool> {
    let has_begun = store.lane(lane.clone()).await?.is_some_and(|lane| lane.head > 0);
    Ok(has_begun || !store.read_mail(lane.clone(), 1).await?.is_empty())
}
