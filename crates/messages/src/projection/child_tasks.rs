//! Messages about sub-agents: a task for each child run.

use std::ops::Range;

use serde_json::{Value, json};
use windlass_core::log::ids::{CallId, InboxMessageId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::Input;
use windlass_core::run::child_runs::{ChildOutcome, child_lane, sub_agent_id};

use super::{MessageProjection, RecordPlace};
use crate::iso_time::format_iso_time;
use crate::message::{SystemEvent, TaskUsage};

/// Characters of a task's description, and of the summary of what it returned.
const MAX_SUMMARY_CHARS: usize = 200;

impl MessageProjection {
    /// Adds a task for each child run that a call has started.
    pub(super) fn add_started_tasks(
        &mut self,
        place: &RecordPlace<'_>,
        id: CallId,
        parts: Range<u16>,
    ) {
        let Some(call) = self.conversation.call(id) else { return };
        let (tool_use_id, input) =
            (call.tool_use.id.to_string(), call.tool_use.input.read::<Value>().unwrap_or_default());
        for part in parts {
            let task = ChildTaskView::from_input(&input, part);
            let event = SystemEvent::TaskStarted {
                task_id: self.task_id(id, part),
                description: task.description,
                task_type: "local_agent".to_owned(),
                tool_use_id: Some(tool_use_id.clone()),
                subagent_type: Some(task.subagent_type),
                is_backgrounded: false,
                prompt: Some(task.prompt),
            };
            self.add_system(place, &format!("task {part}"), event);
        }
    }

    /// Adds the end of the task whose result an inbox message has brought.
    pub(super) fn add_finished_task(&mut self, place: &RecordPlace<'_>, message: InboxMessageId) {
        let Input::CommandsReceived { messages } = &place.entry.input else { return };
        let command = messages.iter().find(|candidate| candidate.id == message);
        let Some(InboxCommand::ChildFinished { text, result: Some(result), .. }) =
            command.map(|found| &found.body)
        else {
            return;
        };
        let (task_id, status) = (
            self.task_id(result.call, result.part),
            match result.ending {
                ChildOutcome::Answered => "completed",
                ChildOutcome::Failed => "failed",
            },
        );
        let patch = json!({ "status": status, "end_time": format_iso_time(place.entry.at) });
        let updated = SystemEvent::TaskUpdated { task_id: task_id.clone(), patch };
        self.add_system(place, "task updated", updated);
        let tool_use_id = self.tool_use_of(result.call).map(|(id, _)| id.to_string());
        let usage = TaskUsage { total_tokens: result.spent.tokens, ..TaskUsage::default() };
        let event = SystemEvent::TaskNotification {
            task_id,
            status: status.to_owned(),
            output_file: String::new(),
            summary: text.chars().take(MAX_SUMMARY_CHARS).collect(),
            tool_use_id,
            usage: Some(usage),
        };
        self.add_system(place, "task ended", event);
    }

    /// Returns the kind of the sub-agent that does a part of a call.
    #[must_use]
    pub fn sub_agent_type(&self, id: CallId, part: u16) -> Option<String> {
        let call = self.conversation.call(id)?;
        let input: Value = call.tool_use.input.read().ok()?;
        Some(ChildTaskView::from_input(&input, part).subagent_type)
    }

    /// The id of the task that is part of a call: that of its conversation.
    fn task_id(&self, call: CallId, part: u16) -> String {
        sub_agent_id(&child_lane(&self.lane, call, part))
    }
}

/// What a call says about one of its tasks.
struct ChildTaskView {
    description: String,
    subagent_type: String,
    prompt: String,
}

impl ChildTaskView {
    /// Reads the task from the input of the call, which has one task or a list of them.
    fn from_input(input: &Value, part: u16) -> Self {
        let listed = input.get("tasks").and_then(|tasks| tasks.get(usize::from(part)));
        let task = listed.unwrap_or(input);
        let field = |name: &str| task.get(name).and_then(Value::as_str).unwrap_or_default();
        let (prompt, agent) = (field("prompt"), field("subagent_type"));
        let description = Some(field("description")).filter(|text| !text.is_empty());
        let description = description.unwrap_or(prompt);
        Self {
            description: description.chars().take(MAX_SUMMARY_CHARS).collect(),
            subagent_type: if agent.is_empty() { field("agent") } else { agent }.to_owned(),
            prompt: prompt.to_owned(),
        }
    }
}
