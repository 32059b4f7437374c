//! The JSON payload for hooks: what a command gets on its standard input, and a callback of an SDK as
//! its argument.

use std::path::Path;

use serde_json::{Map, Value, json};
use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::LaneId;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::request;
use windlass_core::message::transcript::{Role, SegmentKind};
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::{root_lane, sub_agent_id};
use windlass_core::run::conversation::CompactionRequest;
use windlass_core::run::question::{Question, QuestionKind};
use windlass_runtime::ports::{
    ExpansionKind, HookContext, ModelSwitch, RunMoment, SessionEndReason, SessionEvent,
};

use super::config::HookEvent;
use crate::tool_results::sdk_result;

/// Returns the payload for an event of a conversation, with the fields of the event.
#[must_use]
pub fn build_payload(event: HookEvent, context: &HookContext, folder: &Path, more: Value) -> Value {
    let is_child = context.parent().is_some();
    let session = if is_child { root_lane(&context.lane) } else { context.lane.clone() };
    let mut all = common_fields(event, &session, folder);
    let mut put = |name: &str, value: Value| _ = all.insert(name.to_owned(), value);
    if let Some(settings) = &context.conversation.settings {
        put("permission_mode", json!(settings.rules.mode));
        if let Some(effort) = settings.thinking.effort {
            put("effort", json!({"level": effort}));
        }
    }
    if let Some(run) = &context.conversation.run {
        put("prompt_id", json!(run.id.as_str()));
    }
    if is_child {
        put("agent_id", json!(sub_agent_id(&context.lane)));
        put("agent_type", json!(context.agent()));
    }
    if let Value::Object(more) = more {
        all.extend(more);
    }
    Value::Object(all)
}

/// Returns the payload for the end of a session, of which only the name is known.
#[must_use]
pub fn session_end_payload(lane: &LaneId, reason: SessionEndReason, folder: &Path) -> Value {
    let mut all = common_fields(HookEvent::SessionEnd, &root_lane(lane), folder);
    all.insert("reason".to_owned(), json!(reason.name()));
    Value::Object(all)
}

/// Returns the event of something that a process does beside its runs, what matchers are tested against,
/// and its payload.
#[must_use]
pub fn session_event_payload(
    lane: &LaneId,
    about: &SessionEvent,
    folder: &Path,
) -> (HookEvent, String, Value) {
    let (event, subject, more) = match about {
        SessionEvent::PromptExpanded { kind, command, arguments, prompt } => {
            let kind = match kind {
                ExpansionKind::SlashCommand => "slash_command",
                ExpansionKind::McpPrompt => "mcp_prompt",
            };
            let more = json!({
                "expansion_type": kind,
                "command_name": command,
                "command_args": arguments,
                "prompt": prompt,
            });
            (HookEvent::UserPromptExpansion, command.to_string(), more)
        }
        SessionEvent::ModelSwitching(switch) => {
            (HookEvent::PreModelSwitch, switch.to.to_string(), switch_fields(switch))
        }
        SessionEvent::ModelSwitched(switch) => {
            (HookEvent::PostModelSwitch, switch.to.to_string(), switch_fields(switch))
        }
        SessionEvent::WorktreeCreated { name, path } => {
            let more = json!({"name": name, "worktree_path": path});
            (HookEvent::WorktreeCreate, String::new(), more)
        }
        SessionEvent::WorktreeRemoved { path } => {
            (HookEvent::WorktreeRemove, String::new(), json!({"worktree_path": path}))
        }
    };
    let mut all = common_fields(event, &root_lane(lane), folder);
    if root_lane(lane) != *lane {
        all.insert("agent_id".to_owned(), json!(sub_agent_id(lane)));
    }
    if let Value::Object(more) = more {
        all.extend(more);
    }
    (event, subject, Value::Object(all))
}

fn switch_fields(switch: &ModelSwitch) -> Value {
    let ModelSwitch { from, to, requested } = switch;
    json!({"from_model": from, "to_model": to, "requested_model": requested})
}

/// Returns the fields for a file of instructions.
#[must_use]
pub fn instructions_fields(path: &str, memory_type: &str, reason: &str) -> Value {
    json!({"file_path": path, "memory_type": memory_type, "load_reason": reason})
}

/// Returns the kind of a file of instructions by its name; `None` for other files, such as skills.
fn memory_type_of(path: &str) -> Option<&'static str> {
    match path.rsplit('/').next()? {
        "CLAUDE.local.md" => Some("Local"),
        "CLAUDE.md" | "AGENTS.md" => Some("Project"),
        _ => None,
    }
}

/// Returns the fields of every payload. Programs expect the path of the transcript also where there
/// is none.
fn common_fields(event: HookEvent, session: &LaneId, folder: &Path) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| _ = all.insert(name.to_owned(), value);
    put("session_id", json!(session.session_id()));
    put("transcript_path", json!(""));
    put("cwd", json!(folder.to_string_lossy()));
    put("hook_event_name", json!(event.name()));
    all
}

/// Returns no fields, for an event that has none of its own.
#[must_use]
pub fn empty_fields() -> Value {
    json!({})
}

/// Returns the fields for the start of a session.
#[must_use]
pub fn session_start_fields(source: &str) -> Value {
    json!({"source": source})
}

/// Returns the fields for a prompt that is about to be sent.
#[must_use]
pub fn prompt_fields(context: &HookContext) -> Value {
    let segments = context.conversation.transcript.segments();
    let prompt = segments.iter().rev().find(|segment| segment.kind == SegmentKind::Prompt);
    let texts = prompt.into_iter().flat_map(|segment| &*segment.blocks);
    let text: Vec<&str> = texts.filter_map(|block| block.as_text()).collect();
    json!({"prompt": text.join("\n")})
}

/// Returns the fields for a complete answer.
#[must_use]
pub fn answer_fields(context: &HookContext) -> Value {
    json!({
        "stop_hook_active": context.has_rejected_answer(),
        "last_assistant_message": context.answer_text(),
    })
}

/// Returns the fields for a compaction, with the full messages, because they are about to be
/// removed; first the trigger, which matchers are tested against.
#[must_use]
pub fn compaction_fields(context: &HookContext) -> (&'static str, Value) {
    let trigger = match context.conversation.compaction_request {
        CompactionRequest::Requested => "manual",
        CompactionRequest::NotRequested => "auto",
    };
    let instructions = context.conversation.compaction_instructions.as_deref().unwrap_or_default();
    let messages = transcript_messages(context);
    (
        trigger,
        json!({"trigger": trigger, "custom_instructions": instructions, "messages": messages}),
    )
}

fn transcript_messages(context: &HookContext) -> Vec<Value> {
    let segments = context.conversation.transcript.segments().iter();
    let message = |message: request::RequestMessage<'_>| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let content: Vec<Value> =
            message.blocks.iter().map(|block| to_value(block.raw())).collect();
        json!({"role": role, "content": content})
    };
    request::join_segments(segments).into_iter().map(message).collect()
}

/// Returns the fields for a tool call that is about to be authorised.
#[must_use]
pub fn call_fields(call: &Call) -> Value {
    tool_use_fields(&call.tool_use)
}

/// Returns the event and the fields for a tool call that has returned.
#[must_use]
pub fn outcome_fields(of: &Call, outcome: &ToolOutcome) -> (HookEvent, Value) {
    let mut more = call_fields(of);
    let (event, name, value) = match outcome {
        ToolOutcome::Done(content) | ToolOutcome::DoneWithDetail { content, .. } => {
            let response = sdk_result(&of.tool_use.name, &of.tool_use.input, outcome);
            (HookEvent::PostToolUse, "tool_response", response.unwrap_or_else(|| to_value(content)))
        }
        ToolOutcome::Failed(error) => {
            (HookEvent::PostToolUseFailure, "error", json!(error.message_and_output()))
        }
        ToolOutcome::Interrupted { after_ms } => {
            let stopped = format!("it was stopped after {after_ms} ms");
            (HookEvent::PostToolUseFailure, "error", json!(stopped))
        }
        ToolOutcome::TimedOut { after_ms } => {
            let late = format!("it took longer than {after_ms} ms");
            (HookEvent::PostToolUseFailure, "error", json!(late))
        }
        ToolOutcome::InputRequested(request) => {
            let unanswered = format!("{} asked the user, and was not answered", request.from);
            (HookEvent::PostToolUseFailure, "error", json!(unanswered))
        }
    };
    if let Some(more) = more.as_object_mut() {
        more.insert(name.to_owned(), value);
        if event == HookEvent::PostToolUseFailure {
            let is_interrupt = matches!(outcome, ToolOutcome::Interrupted { .. });
            more.insert("is_interrupt".to_owned(), json!(is_interrupt));
        }
        if let Some(ran) = of.run_span {
            more.insert("duration_ms".to_owned(), json!(ran.ended_at.ms_since(ran.started_at)));
        }
    }
    (event, more)
}

/// Returns the kind of a notification, which matchers are tested against, and its fields.
#[must_use]
pub fn notification_fields(context: &HookContext, question: &Question) -> (&'static str, Value) {
    let call = question.kind.call().and_then(|id| {
        context.conversation.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
    });
    let tool = call.map(|call| &*call.tool_use.name).unwrap_or_default();
    let (kind, message) = match &question.kind {
        QuestionKind::Approval { .. } => {
            ("permission_prompt", format!("{tool} needs your permission"))
        }
        QuestionKind::Uncertain { .. } => {
            ("permission_prompt", format!("it is unknown whether {tool} took effect"))
        }
        QuestionKind::ModelQuestion { .. } => {
            ("elicitation_dialog", "a question is waiting for you".to_owned())
        }
        QuestionKind::ToolRequest { request, .. } => {
            ("elicitation_dialog", format!("{} asks: {}", request.from, request.message))
        }
        QuestionKind::Plan { .. } => {
            ("permission_prompt", "a plan is waiting for your approval".to_owned())
        }
        QuestionKind::Guidance { question, .. } => ("elicitation_dialog", question.to_string()),
        QuestionKind::Budget { .. } => ("permission_prompt", "the budget is used up".to_owned()),
        QuestionKind::PromptChanged { changes } => ("permission_prompt", changes.to_string()),
    };
    (kind, json!({"message": message, "notification_type": kind, "title": "windlass"}))
}

/// Returns the event of a moment, what matchers are tested against, and its fields; `None` if it has no
/// event.
#[must_use]
pub fn moment_fields(
    context: &HookContext,
    moment: RunMoment,
) -> Option<(HookEvent, String, Value)> {
    Some(match moment {
        RunMoment::CallDenied { tool_use, reason } => {
            let mut more = tool_use_fields(&tool_use);
            put_field(&mut more, "reason", json!(reason));
            (HookEvent::PermissionDenied, tool_use.name.to_string(), more)
        }
        RunMoment::RoundClosed { calls } => {
            let call = |(tool_use, result): (ToolUse, Option<RawJson>)| {
                let mut fields = tool_use_fields(&tool_use);
                let result = result.as_ref().map(to_value).unwrap_or_default();
                put_field(&mut fields, "tool_response", result);
                fields
            };
            let calls: Vec<Value> = calls.into_iter().map(call).collect();
            (HookEvent::PostToolBatch, String::new(), json!({"tool_calls": calls}))
        }
        RunMoment::Compacted { summary, is_requested } => {
            let trigger = if is_requested { "manual" } else { "auto" };
            let more = json!({"trigger": trigger, "compact_summary": summary});
            (HookEvent::PostCompact, trigger.to_owned(), more)
        }
        RunMoment::RunFailed { cause, error } => {
            let more = json!({
                "error": cause.as_str(),
                "error_details": error,
                "last_assistant_message": context.answer_text(),
            });
            (HookEvent::StopFailure, cause.as_str().to_owned(), more)
        }
        RunMoment::FallbackSelected { from, to } => {
            let subject = to.to_string();
            let more = switch_fields(&ModelSwitch { from, to, requested: None });
            (HookEvent::PostModelSwitch, subject, more)
        }
        RunMoment::InstructionsLoaded { path } => {
            let reason = "nested_traversal";
            let more = instructions_fields(&path, memory_type_of(&path)?, reason);
            (HookEvent::InstructionsLoaded, reason.to_owned(), more)
        }
        RunMoment::RunEnded { .. } => return None,
    })
}

fn put_field(fields: &mut Value, name: &str, value: Value) {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
}

fn tool_use_fields(tool_use: &ToolUse) -> Value {
    json!({
        "tool_name": &*tool_use.name,
        "tool_input": to_value(&tool_use.input),
        "tool_use_id": &*tool_use.id,
    })
}

fn to_value(raw: &RawJson) -> Value {
    raw.read().unwrap_or_else(|_| json!(raw.text()))
}
