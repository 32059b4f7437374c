//! The conversation of a folder that `--continue` goes on with: that of its newest run, or the one
//! that `/clear` put in its place.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use windlass::core::ids::{LaneId, RunId};
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::raw::sha256_hex;
use windlass::ports::{RunInfo, Store};

use crate::args::StoreArgs;
use crate::settle::paths;
use crate::setup;

/// Runs that are looked through for the newest conversation of a folder.
const MOST_RUNS: usize = 500;

/// A conversation in which nothing was said yet. A store knows conversations by what was said in
/// them, so this one is written down beside it.
#[derive(Debug, Serialize, Deserialize)]
struct Fresh {
    conversation: LaneId,
    /// The newest run when it was made: a newer one counts more.
    instead_of: Option<RunId>,
}

/// The conversation to go on with.
pub(super) async fn to_go_on_with(
    store: &dyn Store,
    place: &StoreArgs,
    workspace: &Path,
) -> anyhow::Result<LaneId> {
    let newest = run(store, workspace).await?;
    let fresh = read(&note(place, workspace)?);
    let fresh =
        fresh.filter(|fresh| fresh.instead_of == newest.as_ref().map(|run| run.run.clone()));
    match (fresh, newest) {
        (Some(fresh), _) => Ok(fresh.conversation),
        (None, Some(run)) => Ok(run.lane),
        (None, None) => bail!("there is no conversation of {} to go on with", workspace.display()),
    }
}

/// Goes on with `conversation` from now on, until something newer is said elsewhere.
pub(super) async fn begin_anew(
    conversation: &LaneId,
    store: &dyn Store,
    place: &StoreArgs,
    workspace: &Path,
) -> anyhow::Result<()> {
    let newest = run(store, workspace).await?;
    let fresh =
        Fresh { conversation: conversation.clone(), instead_of: newest.map(|newest| newest.run) };
    let file = note(place, workspace)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let text = serde_json::to_vec(&fresh)?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, text))
        .with_context(|| format!("{} cannot be written; make it writable", file.display()))
}

/// Where it is written down: for each store and folder.
fn note(place: &StoreArgs, workspace: &Path) -> anyhow::Result<PathBuf> {
    let store = setup::store_path(place)?;
    let store = store.canonicalize().unwrap_or(store);
    let both = format!("{}\n{}", store.display(), workspace.display());
    let name = sha256_hex(both.as_bytes());
    Ok(paths::state()?.join("fresh").join(name.get(..32).unwrap_or(&name)))
}

/// A note that cannot be read was not written.
fn read(file: &Path) -> Option<Fresh> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// The newest run whose tools worked in this folder.
async fn run(store: &dyn Store, workspace: &Path) -> anyhow::Result<Option<RunInfo>> {
    let runs = store.runs(None, MOST_RUNS).await?;
    let mut seen: Vec<LaneId> = Vec::new();
    for run in runs {
        if seen.contains(&run.lane) {
            continue;
        }
        if is_of(store, &run.lane, workspace).await? {
            return Ok(Some(run));
        }
        seen.push(run.lane);
    }
    Ok(None)
}

async fn is_of(store: &dyn Store, lane: &LaneId, workspace: &Path) -> anyhow::Result<bool> {
    let first = store.read_log(lane.clone(), 0, 1).await?;
    let Some(stored) = first.first() else { return Ok(false) };
    let entry = Entry::parse(stored.seq, &stored.line)?;
    let Input::Configured { settings } = &entry.input else { return Ok(false) };
    Ok(Path::new(&*settings.rules.root) == workspace)
}
