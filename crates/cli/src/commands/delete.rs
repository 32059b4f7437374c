//! `windlass delete`: removes a conversation and what belongs to it.

use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use windlass::core::ids::LaneId;
use windlass::tools::remove_tool_state;

use crate::args::StoreArgs;
use crate::look::{acts, find};
use crate::settle::paths;
use crate::{setup, show};

#[derive(Serialize)]
struct Deleted<'a> {
    conversation: &'a LaneId,
    /// The conversation and those of its sub-agents.
    deleted: &'a [LaneId],
    entries: u64,
}

pub(crate) async fn delete(id: &str, place: &StoreArgs, json: bool) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(place).await?;
    let lane = find::find(store.as_ref(), Some(id), Path::new(".")).await?.lane;
    let removed = store.remove(lane.clone()).await?;
    let folder = paths::state()?.join("desks");
    for lane in &removed.lanes {
        remove_tool_state(&folder, lane)?;
    }
    let entries = removed.entries;
    show::line(&match json {
        true => {
            let told = Deleted { conversation: &lane, deleted: &removed.lanes, entries };
            serde_json::to_string(&told)?
        }
        false => acts::deleted(&lane, removed.lanes.len(), entries),
    });
    Ok(ExitCode::SUCCESS)
}
