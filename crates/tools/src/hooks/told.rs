//! What a hook is told, as JSON.

use std::path::Path;

use serde_json::{Map, Value, json};
use windlass_core::call::Call;
use windlass_core::child::root_of;
use windlass_core::conversation::Asked;
use windlass_core::ids::LaneId;
use windlass_core::outcome::Outcome;
use windlass_core::question::{About, Question};
use windlass_core::raw::Raw;
use windlass_core::request;
use windlass_core::run::Run;
use windlass_core::transcript::{Part, Role};
use windlass_runtime::ports::{Scene, SessionEndReason};

use super::config::Event;
use crate::shape::shape;

/// All a hook is told about an event of a conversation.
pub(super) fn json(event: Event, scene: &Scene, folder: &Path, more: Value) -> Value {
    let is_child = scene.parent().is_some();
    let session = if is_child { root_of(&scene.lane) } else { scene.lane.clone() };
    let mut all = common(event, &session, folder);
    let mut put = |name: &str, value: Value| _ = all.insert(name.to_owned(), value);
    if let Some(settings) = &scene.conversation.settings {
        put("permission_mode", json!(settings.rules.mode));
        if let Some(effort) = settings.thinking.effort {
            put("effort", json!({"level": effort}));
        }
    }
    if let Some(run) = &scene.conversation.run {
        put("prompt_id", json!(run.id.as_str()));
    }
    if is_child {
        put("agent_id", json!(scene.lane.session_id()));
        put("agent_type", json!(scene.agent()));
    }
    if let Value::Object(more) = more {
        all.extend(more);
    }
    Value::Object(all)
}

/// The same about the end of a session, of which nothing but its name need be known.
pub(super) fn session_end(lane: &LaneId, reason: SessionEndReason, folder: &Path) -> Value {
    let mut all = common(Event::SessionEnd, &root_of(lane), folder);
    all.insert("reason".to_owned(), json!(reason.name()));
    Value::Object(all)
}

/// What every hook is told. There is no transcript file yet; programs expect the field.
fn common(event: Event, session: &LaneId, folder: &Path) -> Map<String, Value> {
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| _ = all.insert(name.to_owned(), value);
    put("session_id", json!(session.session_id()));
    put("transcript_path", json!(""));
    put("cwd", json!(folder.to_string_lossy()));
    put("hook_event_name", json!(event.name()));
    all
}

pub(super) fn nothing() -> Value {
    json!({})
}

pub(super) fn session_start(source: &str) -> Value {
    json!({"source": source})
}

pub(super) fn prompt(scene: &Scene) -> Value {
    let segments = scene.conversation.transcript.segments();
    let prompt = segments.iter().rev().find(|segment| segment.part == Part::Prompt);
    let texts = prompt.into_iter().flat_map(|segment| &*segment.blocks);
    let text: Vec<&str> = texts.filter_map(|block| block.as_text()).collect();
    json!({"prompt": text.join("\n")})
}

pub(super) fn answer(scene: &Scene) -> Value {
    json!({
        "stop_hook_active": scene.was_sent_back(),
        "last_assistant_message": scene.answer(),
    })
}

/// What is about to be left out is told in full: afterwards nobody could.
pub(super) fn compaction(scene: &Scene) -> (&'static str, Value) {
    let trigger = match scene.conversation.compaction {
        Asked::Yes => "manual",
        Asked::No => "auto",
    };
    let wishes = scene.conversation.compaction_wishes.as_deref().unwrap_or_default();
    let messages = messages(scene);
    (trigger, json!({"trigger": trigger, "custom_instructions": wishes, "messages": messages}))
}

fn messages(scene: &Scene) -> Vec<Value> {
    let segments = scene.conversation.transcript.segments().iter();
    let message = |message: request::Message<'_>| {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let content: Vec<Value> = message.blocks.iter().map(|block| value(block.raw())).collect();
        json!({"role": role, "content": content})
    };
    request::messages(segments).into_iter().map(message).collect()
}

pub(super) fn call(call: &Call) -> Value {
    json!({
        "tool_name": &*call.tool_use.name,
        "tool_input": value(&call.tool_use.input),
        "tool_use_id": &*call.tool_use.id,
    })
}

pub(super) fn outcome(of: &Call, outcome: &Outcome) -> (Event, Value) {
    let mut more = call(of);
    let (event, name, said) = match outcome {
        Outcome::Done(content) | Outcome::Detailed { content, .. } => {
            let response = shape(&of.tool_use.name, &of.tool_use.input, outcome);
            (Event::PostToolUse, "tool_response", response.unwrap_or_else(|| value(content)))
        }
        Outcome::Failed(error) => {
            (Event::PostToolUseFailure, "error", json!(error.message_and_output()))
        }
        Outcome::Interrupted { after_ms } => {
            let stopped = format!("it was stopped after {after_ms} ms");
            (Event::PostToolUseFailure, "error", json!(stopped))
        }
        Outcome::TimedOut { after_ms } => {
            let late = format!("it took longer than {after_ms} ms");
            (Event::PostToolUseFailure, "error", json!(late))
        }
    };
    if let Some(more) = more.as_object_mut() {
        more.insert(name.to_owned(), said);
        if event == Event::PostToolUseFailure {
            let is_interrupt = matches!(outcome, Outcome::Interrupted { .. });
            more.insert("is_interrupt".to_owned(), json!(is_interrupt));
        }
        if let Some(ran) = of.ran {
            more.insert("duration_ms".to_owned(), json!(ran.ended_at.since(ran.started_at)));
        }
    }
    (event, more)
}

pub(super) fn question(scene: &Scene, question: &Question) -> (&'static str, Value) {
    let call = question.about.call().and_then(|id| {
        scene.conversation.run.as_ref().and_then(Run::round).and_then(|round| round.call(id))
    });
    let tool = call.map(|call| &*call.tool_use.name).unwrap_or_default();
    let (kind, message) = match &question.about {
        About::Approval { .. } => ("permission_prompt", format!("{tool} needs your permission")),
        About::Uncertain { .. } => {
            ("permission_prompt", format!("it is not known whether {tool} took effect"))
        }
        About::Asking { .. } => ("elicitation_dialog", "a question waits for you".to_owned()),
        About::Plan { .. } => ("permission_prompt", "a plan waits for your approval".to_owned()),
        About::Guidance { question, .. } => ("elicitation_dialog", question.to_string()),
        About::Budget { .. } => ("permission_prompt", "the budget is spent".to_owned()),
        About::Drift { what } => ("permission_prompt", what.to_string()),
    };
    (kind, json!({"message": message, "notification_type": kind, "title": "windlass"}))
}

fn value(raw: &Raw) -> Value {
    raw.read().unwrap_or_else(|_| json!(raw.text()))
}
