//! A lane as text, for expectations a person can read.

use std::fmt::Write as _;

use windlass_core::block::{Block, Kind};
use windlass_core::call::CallState;
use windlass_core::conversation::{Conversation, Ended};
use windlass_core::record::Record;
use windlass_core::reply::Usage;
use windlass_core::request;
use windlass_core::run::{Counters, Run};
use windlass_core::transcript::Role;
use windlass_core::wanted::{Effect, wanted};

/// A record's or input's tag.
pub(crate) fn versioned_tag<T: serde::Serialize>(value: &T) -> String {
    json(value).split('"').nth(1).unwrap().to_owned()
}

/// A record's or input's tag without its version.
pub(crate) fn tag<T: serde::Serialize>(value: &T) -> String {
    versioned_tag(value).split('/').next().unwrap().to_owned()
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
    let content =
        value["content"].as_str().map_or_else(|| value["content"].to_string(), str::to_owned);
    if value["is_error"] != true {
        return format!("ok: {content}");
    }
    let error: serde_json::Value = serde_json::from_str(&content).unwrap_or_default();
    format!(
        "{}: {}",
        error["code"].as_str().unwrap_or("?"),
        error["message"].as_str().unwrap_or("?")
    )
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

/// The folded state as stable text: names and numbers spelled here, so that a new field of a type
/// does not change what was said about an old log.
pub(crate) fn digest(c: &Conversation, entries: usize) -> String {
    let mut out = format!("entries: {entries}\nhead: {}\nat: {}\n", c.head, c.at.0);
    let hash = c.prompt_hash.as_deref().unwrap_or("none");
    let _ = writeln!(out, "phase: {}\nepoch: {}\nprompt hash: {hash}", c.phase_name(), c.epoch);
    let _ = writeln!(out, "asks: {}\nquestions: {}", c.asks, c.questions);
    let _ = writeln!(out, "usage: {}\ngeneration: {}", usage(&c.usage), c.transcript.generation());
    let queue: Vec<&str> = c.queue.iter().map(|queued| queued.run.as_str()).collect();
    let _ = writeln!(out, "queue: {}", queue.join(" "));
    c.run.iter().for_each(|run| run_digest(&mut out, run));
    c.last_end.iter().for_each(|end| end_digest(&mut out, end));
    let effects: Vec<String> = wanted(c).effects.iter().map(effect).collect();
    let wake = wanted(c).wake_at.map_or("never".to_owned(), |at| at.0.to_string());
    let _ = writeln!(out, "wanted: {}\nwake: {wake}", effects.join(", "));
    let _ = writeln!(out, "messages:\n{}", messages_json(c));
    out
}

fn run_digest(out: &mut String, run: &Run) {
    let stop =
        run.stop.map_or("none".to_owned(), |stop| format!("{} at {}", json(&stop.how), stop.at.0));
    let _ = writeln!(out, "run: {}\nused: {}\nstop: {stop}", run.id, counters(&run.counters));
    let _ = writeln!(
        out,
        "pieces: {}\nsteers: {}\ncap: {}",
        json(&run.pieces),
        run.steers.len(),
        run.cap_tokens
    );
    for question in run.questions() {
        let _ = writeln!(out, "open question: {}", json(question));
    }
    for call in run.round().into_iter().flat_map(|round| &round.calls) {
        let _ =
            writeln!(out, "call {} ({}): {}", call.id, call.tool_use.id, call_state(&call.state));
    }
}

fn end_digest(out: &mut String, end: &Ended) {
    let _ = writeln!(out, "ended: {} {} also {}", end.run, json(&end.cause), json(&end.also));
    let _ = writeln!(out, "said: {}\nused by it: {}", json(&end.text), counters(&end.counters));
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn usage(usage: &Usage) -> String {
    let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
    format!(
        "in {input_tokens} out {output_tokens} read {cache_read_tokens} write {cache_write_tokens}"
    )
}

fn counters(counters: &Counters) -> String {
    let Counters { tool_rounds, model_calls, tool_calls, truncations, reprompts, failures, .. } =
        counters;
    format!(
        "rounds {tool_rounds} asks {model_calls} calls {tool_calls} cuts {truncations} reprompts {reprompts} \
         failures {failures} compactions {} tokens {}",
        counters.reactive_compactions,
        usage(&counters.usage)
    )
}

fn call_state(state: &CallState) -> String {
    match state {
        CallState::BeforeHook => "before hook".to_owned(),
        CallState::Unjudged => "unjudged".to_owned(),
        CallState::Referred => "referred".to_owned(),
        CallState::Questioned(question) => format!("questioned {}", question.id),
        CallState::Away(away) => format!("away {}", away.at_work()),
        CallState::Ready => "ready".to_owned(),
        CallState::Running { since } => format!("running since {}", since.0),
        CallState::Resting { until } => format!("resting until {}", until.0),
        CallState::Lost => "lost".to_owned(),
        CallState::AfterHook(outcome) => format!("after hook {}", json(outcome)),
        CallState::Settled(shown) => format!("settled {}", json(shown)),
    }
}

/// `ask 1`, `run 1.0#1`, `before 1.0`, `after 1.0`, `probe 1.0`, `configure`.
pub(crate) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Ask(ask) => format!("ask {ask}"),
        Effect::RunTool { call, attempt } => format!("run {call}#{attempt}"),
        Effect::HookBefore(call) => format!("before {call}"),
        Effect::HookAfter(call) => format!("after {call}"),
        Effect::Probe(call) => format!("probe {call}"),
        Effect::Classify(call) => format!("classify {call}"),
        Effect::Consult(counsel) => format!("consult {counsel}"),
        Effect::Configure => "configure".to_owned(),
    }
}
