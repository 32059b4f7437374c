//! A queued prompt that no process has read yet: there is no log of it, so the store's list of runs
//! is used.

use std::process::ExitCode;

use serde::Serialize;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::stop::RunState;
use windlass::ports::Store;

use super::history::ConversationHistory;
use super::id_lookup::RunTarget;
use super::run_activity::{self, RunActivity};
use super::worker_status::WorkerList;
use crate::terminal;

/// A queued prompt that waits.
#[derive(Debug, Serialize)]
pub(crate) struct PendingRun {
    run: RunId,
    conversation: LaneId,
    state: RunState,
    prompt: Option<String>,
    folder: Option<String>,
    cancel_requested: bool,
    /// What is missing before the run starts; `None` if a worker is about to take it.
    waits_for: Option<String>,
    /// Whether another run is active in the conversation.
    #[serde(skip)]
    is_behind_another: bool,
}

/// Finds the pending run that is meant: the named one, or the next one of a conversation without
/// entries.
pub(crate) async fn find_pending_run(
    store: &dyn Store,
    found: &RunTarget,
    history: &ConversationHistory,
) -> anyhow::Result<Option<PendingRun>> {
    let is_told = |run: &RunId| history.run_ids().contains(run);
    let has_begun = !history.entries.is_empty();
    if found.run.as_ref().map_or(has_begun, is_told) {
        return Ok(None);
    }
    let runs = store.list_runs(Some(found.lane.clone()), usize::MAX).await?;
    let mut queued = runs.into_iter().rev().filter(|run| run.state == RunState::Queued);
    let Some(run) = queued.find(|run| found.run.as_ref().is_none_or(|named| run.run == *named))
    else {
        return Ok(None);
    };
    let lane = store.lane_info(run.lane.clone()).await?;
    let is_behind_another = run_activity::is_behind_another(&run, lane.as_ref());
    let need = RunActivity::read(store, &WorkerList::read(store).await?, &run).await?.need;
    let waits_for = need.map(|need| need.to_string());
    let given = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(terminal::sanitize_text);
    Ok(Some(PendingRun {
        prompt: given(&run.description.prompt),
        folder: given(&run.description.folder),
        state: run.state,
        cancel_requested: run.cancel_requested,
        run: run.run,
        conversation: run.lane,
        waits_for,
        is_behind_another,
    }))
}

impl PendingRun {
    /// Prints the pending run.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<ExitCode> {
        if json {
            terminal::print_line(&serde_json::to_string(self)?);
            return Ok(ExitCode::SUCCESS);
        }
        terminal::print_line(&format!("Run {} of {} is queued.", self.run, self.conversation));
        if let Some(prompt) = &self.prompt {
            terminal::print_line(&format!("Prompt: {prompt}"));
        }
        if let Some(folder) = &self.folder {
            terminal::print_line(&format!("Folder: {folder}"));
        }
        if self.cancel_requested {
            terminal::print_line("Cancellation was requested; the next worker ends it.");
        }
        match &self.waits_for {
            Some(waits_for) => terminal::print_line(&format!("It is {waits_for}.")),
            None if self.is_behind_another => {
                terminal::print_line("It starts when the active run of the conversation ends.");
            }
            None => terminal::print_line("A worker will start it soon."),
        }
        Ok(ExitCode::SUCCESS)
    }
}
