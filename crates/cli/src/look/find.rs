//! From what was typed to what is meant: a run or a conversation, by its id or a unique beginning.

use std::collections::BTreeSet;

use anyhow::bail;
use windlass::core::ids::{LaneId, RunId};
use windlass::ports::{RunInfo, Store};

use super::words;

/// What stands before the id of a conversation that was given no name.
const LANE: &str = "conversation:";

/// What is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The conversation.
    pub(crate) lane: LaneId,
    /// The run, if one of its runs is meant and not all of it.
    pub(crate) run: Option<RunId>,
}

/// Finds what is meant.
pub(crate) async fn find(store: &dyn Store, id: &str) -> anyhow::Result<Found> {
    let id = id.trim();
    if id.is_empty() {
        bail!(words::NO_ID);
    }
    for name in [id.to_owned(), format!("{LANE}{id}")] {
        let lane = LaneId::from(name);
        if store.lane(lane.clone()).await?.is_some() {
            return Ok(Found { lane, run: None });
        }
    }
    among(&store.runs(None, usize::MAX).await?, id)
}

/// Finds what is meant among these runs and their conversations.
pub(crate) fn among(runs: &[RunInfo], id: &str) -> anyhow::Result<Found> {
    let begins = |name: &str| {
        name.starts_with(id) || name.strip_prefix(LANE).is_some_and(|rest| rest.starts_with(id))
    };
    let meant = |run: &RunInfo| Found { lane: run.lane.clone(), run: Some(run.run.clone()) };
    if let Some(run) = runs.iter().find(|run| run.run.as_str() == id) {
        return Ok(meant(run));
    }
    let lanes: BTreeSet<&LaneId> =
        runs.iter().map(|run| &run.lane).filter(|lane| begins(lane.as_str())).collect();
    let hits: Vec<&RunInfo> = runs.iter().filter(|run| begins(run.run.as_str())).collect();
    match (lanes.first(), hits.as_slice()) {
        (None, []) if runs.is_empty() => bail!(words::no_runs_at_all(id)),
        (None, []) => bail!(words::unknown(id)),
        (None, [run]) => Ok(meant(run)),
        (Some(lane), hits) if lanes.len() == 1 && hits.iter().all(|run| run.lane == **lane) => {
            Ok(Found { lane: (*lane).clone(), run: None })
        }
        _ => {
            let lanes = lanes.iter().map(|lane| lane.as_str());
            let names: Vec<&str> = lanes.chain(hits.iter().map(|run| run.run.as_str())).collect();
            bail!(words::ambiguous(id, &names))
        }
    }
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod find_tests;
