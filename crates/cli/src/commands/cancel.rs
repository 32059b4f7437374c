//! `windlass cancel`: asks one run to end.

use std::process::ExitCode;

use windlass::core::ids::RunId;
use windlass::core::mail::MailBody;
use windlass::core::stop::RunState;
use windlass::ports::{RunInfo, Store};

use crate::args::AgentArgs;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::find::Found;
use crate::look::{acts, find};
use crate::setup::{self, Asks};

pub(crate) async fn cancel(
    id: Option<&str>,
    agent: &AgentArgs,
    then: Then,
) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&agent.store).await?;
    let found = find::find(store.as_ref(), id, &agent.permissions.workspace).await?;
    let lane = found.lane.clone();
    let run = match meant(store.as_ref(), &found).await? {
        Meant::Unfinished(run) => run,
        Meant::Finished(run) => {
            Left::new(&lane, acts::ended_already(&run)).say(&agent.output)?;
            return Ok(ExitCode::SUCCESS);
        }
        Meant::Nothing => {
            Left::new(&lane, acts::nothing_to_end(&lane)).say(&agent.output)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let left = Left::new(&lane, acts::asked_to_end(&lane, &run));
    // A run that ends asks no model.
    let mail = Some(MailBody::Cancel { run: Some(run) });
    let ended = Sending { lane, mail, left, asks: Asks::Nobody };
    ended.send(store, agent, then).await?;
    Ok(ExitCode::SUCCESS)
}

enum Meant {
    Unfinished(RunId),
    Finished(Box<RunInfo>),
    Nothing,
}

/// The run that was named. Where a conversation was named, its active run, else the one that is next
/// in its queue.
async fn meant(store: &dyn Store, found: &Found) -> anyhow::Result<Meant> {
    let runs = store.runs(Some(found.lane.clone()), usize::MAX).await?;
    if let Some(named) = &found.run {
        return Ok(match runs.into_iter().find(|run| run.run == *named) {
            Some(run) if run.cause.is_some() => Meant::Finished(Box::new(run)),
            Some(_) | None => Meant::Unfinished(named.clone()),
        });
    }
    let unfinished: Vec<RunInfo> = runs.into_iter().filter(|run| run.cause.is_none()).collect();
    let active = unfinished.iter().find(|run| run.state != RunState::Queued);
    let next = active.or(unfinished.last()).map(|run| run.run.clone());
    Ok(next.map_or(Meant::Nothing, Meant::Unfinished))
}
