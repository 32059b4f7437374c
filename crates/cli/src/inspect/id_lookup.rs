//! Finds the run or conversation that is meant: by its id, by a unique prefix or suffix of it, or,
//! without an id, the newest run of the folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::ports::{RunInfo, Store};

use crate::messages;

/// The prefix of generated conversation ids.
pub(crate) const LANE_PREFIX: &str = "conversation:";

/// Minimum characters of a suffix to be searched. Ids of one day have the same prefix, so people
/// abbreviate them to their last characters; shorter ones would match by chance.
const MIN_SUFFIX_CHARS: usize = 4;

/// Runs read by the first search; each further search reads ten times more.
const FIRST_PAGE_RUNS: usize = 500;

/// The run or conversation that an id means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunTarget {
    /// The lane of the conversation.
    pub(crate) lane: LaneId,
    /// The run, if one run is meant and not the whole conversation.
    pub(crate) run: Option<RunId>,
}

impl RunTarget {
    fn from_run(run: &RunInfo) -> Self {
        Self { lane: run.lane.clone(), run: Some(run.run.clone()) }
    }
}

/// Finds the target of an id; without an id, the newest run of the folder.
pub(crate) async fn find_target(
    store: &dyn Store,
    id: Option<&str>,
    folder: &Path,
) -> anyhow::Result<RunTarget> {
    let Some(id) = id else {
        let newest = newest_run_in_folder(store, folder).await?;
        return match newest {
            Some(run) => Ok(RunTarget::from_run(&run)),
            None => bail!(messages::lookup::no_run_in_folder(&canonical_folder(folder))),
        };
    };
    let id = id.trim();
    if id.is_empty() {
        bail!(messages::lookup::EMPTY_ID);
    }
    for name in [id.to_owned(), format!("{LANE_PREFIX}{id}")] {
        let lane = LaneId::from(name);
        if store.lane_info(lane.clone()).await?.is_some() {
            return Ok(RunTarget { lane, run: None });
        }
    }
    find_among(&store.list_runs(None, usize::MAX).await?, id)
}

/// The newest run whose tools work in this folder. Runs of sub-agents belong to the run that
/// started them and are skipped.
pub(crate) async fn newest_run_in_folder(
    store: &dyn Store,
    folder: &Path,
) -> anyhow::Result<Option<RunInfo>> {
    let folder = canonical_folder(folder);
    let is_meant =
        |run: &RunInfo| is_in_folder(run, &folder) && parent_lane(run.lane.as_str()).is_none();
    let found = newest_runs(store, 1, is_meant).await?;
    Ok(found.into_iter().next())
}

/// The canonical path of the folder, as runs record it.
fn canonical_folder(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Returns whether the tools of a run work in this folder.
pub(crate) fn is_in_folder(run: &RunInfo, folder: &Path) -> bool {
    run.description.folder.as_deref().is_some_and(|of| Path::new(of) == folder)
}

/// The newest runs that match, at most `limit`.
pub(crate) async fn newest_runs(
    store: &dyn Store,
    limit: usize,
    is_wanted: impl Fn(&RunInfo) -> bool,
) -> anyhow::Result<Vec<RunInfo>> {
    let mut page = FIRST_PAGE_RUNS.max(limit);
    loop {
        let runs = store.list_runs(None, page).await?;
        let is_all = runs.len() < page;
        let wanted: Vec<RunInfo> = runs.into_iter().filter(&is_wanted).take(limit).collect();
        if is_all || wanted.len() == limit {
            return Ok(wanted);
        }
        page = page.saturating_mul(10);
    }
}

/// Finds the target of an id among these runs and their conversations.
pub(crate) fn find_among(runs: &[RunInfo], id: &str) -> anyhow::Result<RunTarget> {
    if let Some(run) = runs.iter().find(|run| run.run.as_str() == id) {
        return Ok(RunTarget::from_run(run));
    }
    // A prefix wins over a suffix: names given by people are typed from the left.
    for fits in [has_id_prefix, has_id_suffix] {
        let lanes: BTreeSet<&LaneId> =
            runs.iter().map(|run| &run.lane).filter(|lane| fits(lane.as_str(), id)).collect();
        let hits: Vec<&RunInfo> = runs.iter().filter(|run| fits(run.run.as_str(), id)).collect();
        if let Some(found) = single_match(&lanes, &hits, id)? {
            return Ok(found);
        }
    }
    match runs.is_empty() {
        true => bail!(messages::lookup::no_runs_for_id(id)),
        false => bail!(messages::lookup::unknown_id(id)),
    }
}

fn has_id_prefix(name: &str, id: &str) -> bool {
    name.starts_with(id) || name.strip_prefix(LANE_PREFIX).is_some_and(|rest| rest.starts_with(id))
}

fn has_id_suffix(name: &str, id: &str) -> bool {
    id.len() >= MIN_SUFFIX_CHARS && name.ends_with(id)
}

/// The only match, or `None`; several matches are an error that names them.
fn single_match(
    lanes: &BTreeSet<&LaneId>,
    runs: &[&RunInfo],
    id: &str,
) -> anyhow::Result<Option<RunTarget>> {
    // The conversation ids of sub-agents start with the id of their parent.
    let is_inside = |lane: &LaneId| {
        parent_lane(lane.as_str())
            .is_some_and(|parent| lanes.iter().any(|lane| lane.as_str() == parent))
    };
    let outermost: Vec<&LaneId> = lanes.iter().copied().filter(|lane| !is_inside(lane)).collect();
    match (outermost.as_slice(), runs) {
        ([], []) => Ok(None),
        ([], [run]) => Ok(Some(RunTarget::from_run(run))),
        ([lane], runs)
            if runs.iter().all(|run| root_lane(run.lane.as_str()) == root_lane(lane.as_str())) =>
        {
            Ok(Some(RunTarget { lane: (*lane).clone(), run: None }))
        }
        (lanes, runs) => {
            let lanes = lanes.iter().map(|lane| lane.as_str());
            let names: Vec<&str> = lanes.chain(runs.iter().map(|run| run.run.as_str())).collect();
            bail!(messages::lookup::ambiguous_id(id, &names))
        }
    }
}

/// The parent's conversation of a sub-agent's conversation: `PARENT/CALL-PART`.
pub(crate) fn parent_lane(lane: &str) -> Option<&str> {
    let (parent, call) = lane.rsplit_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let (call, part) = call.split_once('-')?;
    let (prompt, index) = call.split_once('.')?;
    [prompt, index, part].into_iter().all(is_number).then_some(parent)
}

/// The conversation at the root of a tree of sub-agents.
fn root_lane(lane: &str) -> &str {
    parent_lane(lane).map_or(lane, root_lane)
}

#[cfg(test)]
#[path = "id_lookup_tests.rs"]
mod id_lookup_tests;
