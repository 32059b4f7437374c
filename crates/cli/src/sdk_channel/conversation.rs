//! Which conversation the channel serves: a new one, one that is resumed, or a copy of one.

use anyhow::bail;
use windlass::Session;
use windlass::core::log::ids::LaneId;

use crate::args::PrintArgs;
use crate::commands::newest_conversation;
use crate::config::paths;
use crate::inspect::id_lookup::{self, LANE_PREFIX};
use crate::setup::{self, OpenConversation, RunSetup};

/// Why there is no conversation to serve. The program gets it as a result.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct NoConversation(String);

/// Finds the conversation that is continued; `None` for a new one.
pub(super) async fn find(print: &PrintArgs) -> anyhow::Result<Option<OpenConversation>> {
    if print.session.no_session_persistence {
        return Ok(Some(OpenConversation::in_memory(print.session_id.as_deref())));
    }
    if print.resume.is_none() && !print.continue_newest {
        return Ok(None);
    }
    let store = setup::open_store(&print.agent.store).await?;
    let workspace = paths::resolve_folder(&print.agent.permissions.workspace, "--workspace")?;
    let lane = match &print.resume {
        Some(id) if uuid::Uuid::parse_str(id).is_ok() => {
            let lane = LaneId::from(format!("{LANE_PREFIX}{id}"));
            match store.lane_info(lane.clone()).await? {
                Some(_) => lane,
                None => {
                    bail!(NoConversation(format!("No conversation found with session ID: {id}")))
                }
            }
        }
        Some(name) => {
            id_lookup::find_target(store.as_ref(), Some(name), &workspace)
                .await
                .map_err(|error| NoConversation(error.to_string()))?
                .lane
        }
        None => newest_conversation::find_conversation_to_continue(
            store.as_ref(),
            &print.agent.store,
            &workspace,
        )
        .await
        .map_err(|error| NoConversation(error.to_string()))?,
    };
    Ok(Some(OpenConversation { store, lane }))
}

/// Opens the conversation that is continued, a copy of it, or a new one.
pub(super) async fn open(
    print: &PrintArgs,
    setup: &RunSetup,
    old: Option<OpenConversation>,
) -> anyhow::Result<Session> {
    let new_lane = match (&print.session_id, &old) {
        (Some(id), _) if old.is_none() || print.fork_session => {
            let lane = LaneId::from(format!("{LANE_PREFIX}{id}"));
            if setup.store.lane_info(lane.clone()).await?.is_some() {
                bail!("Error: Session ID {id} is already in use.");
            }
            lane
        }
        _ => LaneId::from(format!("{LANE_PREFIX}{}", setup::new_id())),
    };
    match old {
        Some(old) if print.fork_session => {
            Ok(setup.windlass.session(old.lane).fork_as(new_lane, None).await?)
        }
        Some(old) => Ok(setup.windlass.session(old.lane)),
        None => Ok(setup.windlass.session(new_lane)),
    }
}
