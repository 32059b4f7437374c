//! Messages about sub-agents: a task for each child run.

use std::ops::Range;
use std::sync::Arc;

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
        let is_backgrounded = call.facts.children_in_background;
        for part in parts {
            let task = ChildTaskView::from_input(&input, part);
            let started = StartedTask {
                tool_use_id: tool_use_id.clone(),
                subagent_type: task.subagent_type.clone(),
            };
            self.tasks.insert(self.task_id(id, part), started);
            let event = SystemEvent::TaskStarted {
                task_id: self.task_id(id, part),
                description: task.description,
                task_type: "local_agent".to_owned(),
                tool_use_id: Some(tool_use_id.clone()),
                subagent_type: Some(task.subagent_type),
                is_backgrounded,
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
        let of_call = |(id, _): (Arc<str>, Arc<str>)| id.to_string();
        let tool_use_id = match self.tasks.remove(&task_id) {
            Some(task) => Some(task.tool_use_id),
            None => self.tool_use_of(result.call).map(of_call),
        };
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

    /// Returns what is known of a task that was started and has not returned.
    #[must_use]
    pub fn started_task(&self, call: CallId, part: u16) -> Option<&StartedTask> {
        self.tasks.get(&self.task_id(call, part))
    }

    /// The id of the task that is part of a call: that of its conversation.
    fn task_id(&self, call: CallId, part: u16) -> String {
        sub_agent_id(&child_lane(&self.lane, call, part))
    }
}

/// A task of a call, which need not wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTask {
    /// The provider's id of the call.
    pub tool_use_id: String,
    /// The kind of the sub-agent.
    pub subagent_type: String,
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
