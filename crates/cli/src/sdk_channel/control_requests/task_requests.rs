//! Requests about work in progress: the turn, queued prompts, sub-agents.

use serde_json::json;
use windlass::core::log::ids::LaneId;
use windlass::core::run::child_runs::root_lane;

use super::{ControlAnswer, ControlRequest, respond};
use crate::inspect::id_lookup::LANE_PREFIX;
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
    let lane = LaneId::from(format!("{LANE_PREFIX}{id}"));
    // Only sub-agents of this conversation are tasks of this session.
    let is_ours = lane != *channel.session.lane() && root_lane(&lane) == *channel.session.lane();
    let known = channel.setup.store.lane_info(lane.clone()).await;
    if is_ours && known.map_err(|error| error.to_string())?.is_some() {
        let child = channel.session.sibling(lane);
        child.abort(None).await.map_err(|error| error.to_string())?;
    }
    Ok(json!({}))
}
