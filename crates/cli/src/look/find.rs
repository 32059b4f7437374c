//! From what was typed to what is meant: a run or a conversation, by its id, a unique beginning or
//! end of it, or by saying nothing, which means the newest run of the folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use windlass::core::ids::{LaneId, RunId};
use windlass::ports::{RunInfo, Store};

use super::words;

/// What stands before the id of a conversation that was given no name.
pub(crate) const LANE: &str = "conversation:";

/// Characters of an end of an id that are enough to be looked for. Ids of one day begin alike, so
/// people abbreviate them to their last characters; fewer would be found by chance.
const FEWEST_END_CHARS: usize = 4;

/// How many runs are read at first when one is looked for; each further look reads ten times more.
const FIRST_PAGE: usize = 500;

/// What is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The conversation.
    pub(crate) lane: LaneId,
    /// The run, if one of its runs is meant and not all of it.
    pub(crate) run: Option<RunId>,
}

impl Found {
    fn from_run(run: &RunInfo) -> Self {
        Self { lane: run.lane.clone(), run: Some(run.run.clone()) }
    }
}

/// Finds what is meant; without an id, the newest run of the folder.
pub(crate) async fn find(
    store: &dyn Store,
    id: Option<&str>,
    folder: &Path,
) -> anyhow::Result<Found> {
    let Some(id) = id else {
        let newest = newest_run(store, folder).await?;
        return match newest {
            Some(run) => Ok(Found::from_run(&run)),
            None => bail!(words::no_run_in(&real(folder))),
        };
    };
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

/// The newest run whose tools work in this folder. Runs of sub-agents belong to the run that
/// started them and are not meant.
pub(crate) async fn newest_run(
    store: &dyn Store,
    folder: &Path,
) -> anyhow::Result<Option<RunInfo>> {
    let folder = real(folder);
    let is_meant = |run: &RunInfo| is_of(run, &folder) && parent(run.lane.as_str()).is_none();
    let found = newest(store, 1, is_meant).await?;
    Ok(found.into_iter().next())
}

/// The folder by the name that runs know it by.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Whether the tools of a run work in this folder.
pub(crate) fn is_of(run: &RunInfo, folder: &Path) -> bool {
    run.description.folder.as_deref().is_some_and(|of| Path::new(of) == folder)
}

/// The newest runs that are wanted, at most `most`.
pub(crate) async fn newest(
    store: &dyn Store,
    most: usize,
    is_wanted: impl Fn(&RunInfo) -> bool,
) -> anyhow::Result<Vec<RunInfo>> {
    let mut page = FIRST_PAGE.max(most);
    loop {
        let runs = store.runs(None, page).await?;
        let is_all = runs.len() < page;
        let wanted: Vec<RunInfo> = runs.into_iter().filter(&is_wanted).take(most).collect();
        if is_all || wanted.len() == most {
            return Ok(wanted);
        }
        page = page.saturating_mul(10);
    }
}

/// Finds what is meant among these runs and their conversations.
pub(crate) fn among(runs: &[RunInfo], id: &str) -> anyhow::Result<Found> {
    if let Some(run) = runs.iter().find(|run| run.run.as_str() == id) {
        return Ok(Found::from_run(run));
    }
    // A beginning counts more than an end: names that people gave are typed from the left.
    for fits in [begins, ends] {
        let lanes: BTreeSet<&LaneId> =
            runs.iter().map(|run| &run.lane).filter(|lane| fits(lane.as_str(), id)).collect();
        let hits: Vec<&RunInfo> = runs.iter().filter(|run| fits(run.run.as_str(), id)).collect();
        if let Some(found) = only(&lanes, &hits, id)? {
            return Ok(found);
        }
    }
    match runs.is_empty() {
        true => bail!(words::no_runs_at_all(id)),
        false => bail!(words::unknown(id)),
    }
}

fn begins(name: &str, id: &str) -> bool {
    name.starts_with(id) || name.strip_prefix(LANE).is_some_and(|rest| rest.starts_with(id))
}

fn ends(name: &str, id: &str) -> bool {
    id.len() >= FEWEST_END_CHARS && name.ends_with(id)
}

/// The one that fits, or nothing; several are an error that names them.
fn only(lanes: &BTreeSet<&LaneId>, runs: &[&RunInfo], id: &str) -> anyhow::Result<Option<Found>> {
    // The conversations of sub-agents begin with the name of the one that started them.
    let is_inside = |lane: &LaneId| {
        parent(lane.as_str()).is_some_and(|parent| lanes.iter().any(|lane| lane.as_str() == parent))
    };
    let outermost: Vec<&LaneId> = lanes.iter().copied().filter(|lane| !is_inside(lane)).collect();
    match (outermost.as_slice(), runs) {
        ([], []) => Ok(None),
        ([], [run]) => Ok(Some(Found::from_run(run))),
        ([lane], runs) if runs.iter().all(|run| root(run.lane.as_str()) == root(lane.as_str())) => {
            Ok(Some(Found { lane: (*lane).clone(), run: None }))
        }
        (lanes, runs) => {
            let lanes = lanes.iter().map(|lane| lane.as_str());
            let names: Vec<&str> = lanes.chain(runs.iter().map(|run| run.run.as_str())).collect();
            bail!(words::ambiguous(id, &names))
        }
    }
}

/// The conversation that a sub-agent's conversation was started by: `PARENT/CALL-PART`.
pub(crate) fn parent(lane: &str) -> Option<&str> {
    let (parent, call) = lane.rsplit_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let (call, part) = call.split_once('-')?;
    let (ask, index) = call.split_once('.')?;
    [ask, index, part].into_iter().all(is_number).then_some(parent)
}

/// The conversation that started all others of its family.
fn root(lane: &str) -> &str {
    parent(lane).map_or(lane, root)
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod find_tests;
