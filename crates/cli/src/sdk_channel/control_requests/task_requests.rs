//! Requests about work in progress: the turn, queued prompts, sub-agents.

use serde_json::json;
use windlass::core::log::ids::LaneId;
use windlass::core::run::child_runs::sub_agent_id;

use super::{ControlAnswer, ControlRequest, respond};
use crate::sdk_channel::channel_loop::Channel;
use crate::sdk_channel::frame_writer::OutputClosed;

/// Stops the turn in progress. The answer comes before the last frames of the turn.
pub(super) async fn interrupt(
    channel: &mut Channel,
    request: &ControlRequest,
) -> Result<(), OutputClosed> {
    let cancelled = match request.flag("cancel_queued") {
        true => channel.queue.clear(),
        false => Vec::new(),
    };
    let answer = json!({ "still_queued": channel.queue.uuids(), "cancelled": cancelled });
    respond(&channel.writer, &request.id, Ok(answer)).await?;
    if let Err(error) = channel.interrupt_turn().await {
        tracing::warn!(%error, "cannot interrupt the run");
    }
    Ok(())
}

/// Takes back a prompt whose turn has not started.
pub(super) fn cancel_async_message(
    channel: &mut Channel,
    request: &ControlRequest,
) -> ControlAnswer {
    let uuid = request.text("message_uuid").unwrap_or_default();
    Ok(json!({ "cancelled": channel.queue.remove(uuid) }))
}

/// Stops a sub-agent. One that is not known may have ended, which is no error.
pub(super) async fn stop_task(channel: &Channel, request: &ControlRequest) -> ControlAnswer {
    let id = request.text("task_id").unwrap_or_default();
    // Only sub-agents of this conversation are tasks of this session.
    let working = working_children(channel).await.map_err(|error| format!("{error:#}"))?;
    if let Some(lane) = working.into_iter().find(|lane| sub_agent_id(lane) == id) {
        let child = channel.session.sibling(lane);
        child.abort(None).await.map_err(|error| error.to_string())?;
    }
    Ok(json!({}))
}

/// The sub-agents of the conversation. One that has no prompt yet has none.
async fn working_children(channel: &Channel) -> anyhow::Result<Vec<LaneId>> {
    let session = &channel.session;
    match channel.setup.store.lane_info(session.lane().clone()).await? {
        Some(_) => Ok(session.working_children().await?),
        None => Ok(Vec::new()),
    }
}
