//! A prompt that nobody has read yet: there is no log to tell about it, so the store's list of runs
//! does.

use std::process::ExitCode;

use serde::Serialize;
use windlass::core::ids::{LaneId, RunId};
use windlass::core::stop::RunState;
use windlass::ports::{RunInfo, Store};

use super::find::Found;
use super::story::Story;
use super::waiting::{Need, Workers};
use crate::show;

/// A prompt that waits.
#[derive(Debug, Serialize)]
pub(crate) struct PendingRun {
    run: RunId,
    conversation: LaneId,
    state: RunState,
    prompt: Option<String>,
    folder: Option<String>,
    cancel_requested: bool,
    /// What has to be there before it begins; nothing if a worker is about to take it.
    waits_for: Option<String>,
}

/// The pending run that is meant: the one that was named, or the next one of a conversation in which
/// nothing has happened yet.
pub(crate) async fn find(
    store: &dyn Store,
    found: &Found,
    story: &Story,
) -> anyhow::Result<Option<PendingRun>> {
    let is_told = |run: &RunId| story.runs().contains(run);
    let has_begun = !story.entries.is_empty();
    if found.run.as_ref().map_or(has_begun, is_told) {
        return Ok(None);
    }
    let runs = store.runs(Some(found.lane.clone()), usize::MAX).await?;
    let mut queued = runs.into_iter().rev().filter(|run| run.state == RunState::Queued);
    let Some(run) = queued.find(|run| found.run.as_ref().is_none_or(|named| run.run == *named))
    else {
        return Ok(None);
    };
    let waits_for = what_it_waits_for(store, &run).await?.map(|need| need.to_string());
    let given = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(show::harmless);
    Ok(Some(PendingRun {
        prompt: given(&run.description.prompt),
        folder: given(&run.description.folder),
        state: run.state,
        cancel_requested: run.cancel_requested,
        run: run.run,
        conversation: run.lane,
        waits_for,
    }))
}

async fn what_it_waits_for(store: &dyn Store, run: &RunInfo) -> anyhow::Result<Option<Need>> {
    let lane = store.lane(run.lane.clone()).await?;
    Ok(Workers::read(store).await?.needed_by(run, lane.as_ref()))
}

/// What a run waits for, if no process works on it and none is about to.
pub(crate) async fn need_of(
    store: &dyn Store,
    lane: &LaneId,
    run: &RunId,
) -> anyhow::Result<Option<Need>> {
    let runs = store.runs(Some(lane.clone()), usize::MAX).await?;
    match runs.iter().find(|known| known.run == *run) {
        Some(run) => what_it_waits_for(store, run).await,
        None => Ok(None),
    }
}

impl PendingRun {
    /// Prints it.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<ExitCode> {
        if json {
            show::line(&serde_json::to_string(self)?);
            return Ok(ExitCode::SUCCESS);
        }
        show::line(&format!("Run {} of {} is queued.", self.run, self.conversation));
        if let Some(prompt) = &self.prompt {
            show::line(&format!("Prompt: {prompt}"));
        }
        if let Some(folder) = &self.folder {
            show::line(&format!("Folder: {folder}"));
        }
        if self.cancel_requested {
            show::line("It was asked to end; the next worker that takes it ends it.");
        }
        match &self.waits_for {
            Some(waits_for) => show::line(&format!("It is {waits_for}.")),
            None => show::line("A worker is about to take it."),
        }
        Ok(ExitCode::SUCCESS)
    }
}
