//! The conversation of a folder that `--continue` goes on with: that of its newest run, or the one
//! that `/clear` put in its place.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use windlass::core::ids::{LaneId, RunId};
use windlass::core::raw::sha256_hex;
use windlass::ports::Store;

use crate::args::StoreArgs;
use crate::look::find::newest_run;
use crate::settle::paths;
use crate::setup;

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
    let newest = newest_run(store, workspace).await?;
    let fresh = read(&note(place, workspace)?);
    let fresh =
        fresh.filter(|fresh| fresh.instead_of == newest.as_ref().map(|run| run.run.clone()));
    match (fresh, newest) {
        (Some(fresh), _) => Ok(fresh.conversation),
        (None, Some(run)) => Ok(run.lane),
        (None, None) => bail!("there is no conversation to continue in {}", workspace.display()),
    }
}

/// Goes on with `conversation` from now on, until something newer is said elsewhere.
pub(super) async fn begin_anew(
    conversation: &LaneId,
    store: &dyn Store,
    place: &StoreArgs,
    workspace: &Path,
) -> anyhow::Result<()> {
    let newest = newest_run(store, workspace).await?;
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
