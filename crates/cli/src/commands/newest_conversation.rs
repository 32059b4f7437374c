//! The conversation that `--continue` uses: that of the folder's newest run, or the one created by
//! `/clear`.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::message::raw_json::sha256_hex;
use windlass::ports::Store;

use crate::args::StoreArgs;
use crate::config::paths;
use crate::inspect::id_lookup::newest_run_in_folder;
use crate::setup;

/// A conversation created by `/clear` that has no entries yet. The store lists conversations by
/// their entries, so this one is recorded in a file beside it.
#[derive(Debug, Serialize, Deserialize)]
struct ClearedConversation {
    conversation: LaneId,
    /// The newest run when the conversation was created: a newer run takes precedence.
    replaced_run: Option<RunId>,
}

/// Finds the conversation to continue.
pub(crate) async fn find_conversation_to_continue(
    store: &dyn Store,
    store_args: &StoreArgs,
    workspace: &Path,
) -> anyhow::Result<LaneId> {
    let newest = newest_run_in_folder(store, workspace).await?;
    let fresh = read_note(&note_path(store_args, workspace)?);
    let fresh =
        fresh.filter(|fresh| fresh.replaced_run == newest.as_ref().map(|run| run.run.clone()));
    match (fresh, newest) {
        (Some(fresh), _) => Ok(fresh.conversation),
        (None, Some(run)) => Ok(run.lane),
        (None, None) => bail!("no conversation to continue in {}", workspace.display()),
    }
}

/// Makes `--continue` use `conversation` until a newer run starts in another one.
pub(crate) async fn record_cleared_conversation(
    conversation: &LaneId,
    store: &dyn Store,
    store_args: &StoreArgs,
    workspace: &Path,
) -> anyhow::Result<()> {
    let newest = newest_run_in_folder(store, workspace).await?;
    let fresh = ClearedConversation {
        conversation: conversation.clone(),
        replaced_run: newest.map(|newest| newest.run),
    };
    let file = note_path(store_args, workspace)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let text = serde_json::to_vec(&fresh)?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, text))
        .with_context(|| format!("cannot write {}; make it writable", file.display()))
}

/// Path of the file that records it: one for each store and folder.
fn note_path(store_args: &StoreArgs, workspace: &Path) -> anyhow::Result<PathBuf> {
    let store = setup::store_path(store_args)?;
    let store = store.canonicalize().unwrap_or(store);
    let both = format!("{}\n{}", store.display(), workspace.display());
    let name = sha256_hex(both.as_bytes());
    Ok(paths::state_folder()?.join("fresh").join(name.get(..32).unwrap_or(&name)))
}

/// Reads the record; an unreadable file counts as missing.
fn read_note(file: &Path) -> Option<ClearedConversation> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}
