//! Messages that do not follow from a record: they are delivered live, with ids of their own.

use std::time::Duration;

use windlass_core::log::ids::CallId;

use super::MessageProjection;
use crate::message::{
    InitInfo, Message, SystemEvent, SystemMessage, ToolProgressMessage, ToolUseSummaryMessage,
};
use crate::message_uuid::derive_uuid;

/// What a running call has reported.
#[derive(Debug, Clone)]
pub struct ToolProgress {
    /// The call.
    pub call: CallId,
    /// How long it has been running.
    pub elapsed_ms: u64,
    /// What it printed since the last report.
    pub output: String,
    /// The number of bytes before `output` that were left out.
    pub omitted_bytes: u64,
    /// How much is done, how much there is to do, and what the call does now.
    pub step: Option<(Option<f64>, Option<f64>, Option<String>)>,
}

impl MessageProjection {
    /// Returns the message about a call that is still running; `None` if the run has no such call.
    pub fn on_call_progress(&mut self, progress: ToolProgress) -> Option<Message> {
        let (tool_use_id, tool_name) = self.tool_use_of(progress.call)?;
        let ToolProgress { elapsed_ms, output, omitted_bytes, step, .. } = progress;
        let (done, total, status) = step.unwrap_or_default();
        Some(Message::ToolProgress(ToolProgressMessage {
            tool_use_id: tool_use_id.to_string(),
            tool_name: tool_name.to_string(),
            parent_tool_use_id: self.parent_tool_use_id(),
            elapsed_time_seconds: Duration::from_millis(elapsed_ms).as_secs_f64(),
            output: Some(output).filter(|output| !output.is_empty()),
            omitted_bytes: Some(omitted_bytes).filter(|omitted| *omitted > 0),
            progress: done,
            total,
            status,
            session_id: self.session_id.clone(),
            uuid: self.live_uuid(),
        }))
    }

    /// Returns the message about a batch of tool calls.
    pub fn on_call_summary(&mut self, tool_use_ids: &[String], summary: &str) -> Message {
        Message::ToolUseSummary(ToolUseSummaryMessage {
            summary: summary.to_owned(),
            preceding_tool_use_ids: tool_use_ids.to_vec(),
            session_id: self.session_id.clone(),
            uuid: self.live_uuid(),
        })
    }

    /// Returns the message with which a run starts.
    pub fn init_message(&mut self, info: InitInfo) -> Message {
        self.system_message(SystemEvent::Init(Box::new(info)))
    }

    /// Returns a live system message of the conversation.
    pub fn system_message(&mut self, event: SystemEvent) -> Message {
        let uuid = self.live_uuid();
        Message::System(SystemMessage { event, session_id: self.session_id.clone(), uuid })
    }

    /// Returns a new id for a live message.
    pub fn live_uuid(&mut self) -> String {
        self.live_count += 1;
        let name = format!("live {} {}", self.options.nonce, self.live_count);
        derive_uuid(&self.session_id, &name)
    }
}
