//! `windlass delete`: removes a conversation and everything that belongs to it.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use windlass::core::log::ids::LaneId;
use windlass::ports::{RemovedLanes, Store};
use windlass::tools::remove_tool_state;

use crate::args::StoreArgs;
use crate::config::paths;
use crate::inspect::id_lookup;
use crate::transcript::remove_transcripts;
use crate::{messages, setup, terminal};

#[derive(Serialize)]
struct DeletedJson<'a> {
    conversation: &'a LaneId,
    /// The deleted conversation and those of its sub-agents.
    deleted: &'a [LaneId],
    entries: u64,
}

pub(crate) async fn run(id: &str, store_args: &StoreArgs, json: bool) -> anyhow::Result<ExitCode> {
    let store = setup::open_existing_store(store_args).await?;
    let lane = id_lookup::find_target(store.as_ref(), Some(id), Path::new(".")).await?.lane;
    let removed = remove_conversation(store.as_ref(), lane.clone()).await?;
    let entries = removed.entries;
    terminal::print_line(&match json {
        true => {
            let told = DeletedJson { conversation: &lane, deleted: &removed.lanes, entries };
            serde_json::to_string(&told)?
        }
        false => messages::action::conversation_deleted(&lane, removed.lanes.len(), entries),
    });
    Ok(ExitCode::SUCCESS)
}

/// Removes a conversation with everything that belongs to it.
pub(crate) async fn remove_conversation(
    store: &dyn Store,
    lane: LaneId,
) -> anyhow::Result<RemovedLanes> {
    let removed = store.remove_lane(lane).await?;
    let folder = paths::tool_state_folder(&paths::state_folder()?);
    for lane in &removed.lanes {
        remove_tool_state(&folder, lane)?;
    }
    remove_transcripts(&removed.lanes)?;
    Ok(removed)
}
