//! A lane as text, for expectations a person can read.

use std::fmt::Write as _;

use windlass_core::block::{Block, Kind};
use windlass_core::conversation::Conversation;
use windlass_core::log::Entry;
use windlass_core::record::Record;
use windlass_core::request;
use windlass_core::transcript::Role;
use windlass_core::wanted::wanted;

/// A record's or input's tag without its version.
pub(crate) fn tag<T: serde::Serialize>(value: &T) -> String {
    let value = serde_json::to_value(value).unwrap();
    let tag = value.as_object().and_then(|object| object.keys().next()).unwrap();
    tag.split('/').next().unwrap().to_owned()
}

/// The tags of records, in order.
pub(crate) fn tags(records: &[Record]) -> String {
    records.iter().map(tag).collect::<Vec<_>>().join(" ")
}

/// What the model sees, one line per message: `user: hi`, `assistant: <read t1>`,
/// `user: <t1 ok: text> note`.
pub(crate) fn messages(c: &Conversation) -> Vec<String> {
    let messages = request::messages(c.transcript.segments().iter());
    messages.iter().map(|message| line(message.role, &message.blocks)).collect()
}

fn line(role: Role, blocks: &[&Block]) -> String {
    let who = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let blocks: Vec<String> = blocks.iter().map(|block| short(block)).collect();
    format!("{who}: {}", blocks.join(" | "))
}

fn short(block: &Block) -> String {
    match block.kind() {
        Kind::Text(text) => text.to_string(),
        Kind::ToolUse(call) => format!("<{} {}>", call.name, call.id),
        Kind::ToolResult { tool_use_id } => format!("<{tool_use_id} {}>", result(block)),
        Kind::Other(name) => format!("({name})"),
    }
}

fn result(block: &Block) -> String {
    let value: serde_json::Value = block.raw().read().unwrap_or_default();
    let content = value["content"].as_str().map_or_else(|| value["content"].to_string(), str::to_owned);
    if value["is_error"] != true {
        return format!("ok: {content}");
    }
    let error: serde_json::Value = serde_json::from_str(&content).unwrap_or_default();
    format!("{}: {}", error["code"].as_str().unwrap_or("?"), error["message"].as_str().unwrap_or("?"))
}

/// What the model sees, as JSON.
pub(crate) fn messages_json(c: &Conversation) -> String {
    let messages = request::messages(c.transcript.segments().iter());
    let role = |role| match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let lines: Vec<String> = messages
        .iter()
        .map(|message| {
            let blocks: Vec<&str> = message.blocks.iter().map(|block| block.raw().text()).collect();
            format!("{{\"role\":\"{}\",\"content\":[{}]}}", role(message.role), blocks.join(","))
        })
        .collect();
    lines.join("\n")
}

/// The folded state as stable text. Only ever added to: old digests must stay true.
pub(crate) fn digest(c: &Conversation, log: &[Entry]) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "entries: {}\nhead: {}\nat: {}", log.len(), c.head, c.at.0);
    let _ = writeln!(out, "phase: {}\nepoch: {}", c.phase_name(), c.epoch);
    let _ = writeln!(out, "prompt hash: {}", c.prompt_hash.as_deref().unwrap_or("none"));
    let _ = writeln!(out, "asks: {}\nquestions: {}", c.asks, c.questions);
    let _ = writeln!(out, "usage: {:?}\ngeneration: {}", c.usage, c.transcript.generation());
    let queue: Vec<&str> = c.queue.iter().map(|queued| queued.run.as_str()).collect();
    let _ = writeln!(out, "queue: {}", queue.join(" "));
    if let Some(run) = &c.run {
        let _ = writeln!(out, "run: {} {:?}", run.id, run.counters);
        let _ = writeln!(out, "stop: {:?}\npieces: {:?}", run.stop, run.pieces);
        let _ = writeln!(out, "steers: {}\ncap: {}", run.steers.len(), run.cap_tokens);
        for question in run.questions() {
            let _ = writeln!(out, "open question: {question:?}");
        }
        for call in run.round().into_iter().flat_map(|round| &round.calls) {
            let _ = writeln!(out, "call {} {}: {:?}", call.id, call.tool_use.id, call.state);
        }
    }
    if let Some(end) = &c.last_end {
        let _ = writeln!(out, "ended: {} {:?} also {:?}", end.run, end.cause, end.also);
        let _ = writeln!(out, "said: {:?}\nused: {:?}", end.text, end.counters);
    }
    let wanted = wanted(c);
    let _ = writeln!(out, "wanted: {:?} wake {:?}", wanted.effects, wanted.wake_at.map(|at| at.0));
    let _ = writeln!(out, "messages:\n{}", messages_json(c));
    out
}
