//! A lane as text, for expectations a person can read.

use std::fmt::Write as _;

use windlass_core::call::call_state::CallState;
use windlass_core::log::record::Record;
use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::reply::TokenUsage;
use windlass_core::message::request;
use windlass_core::message::transcript::Role;
use windlass_core::run::active_run::{Run, RunCounters};
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::run::wanted::{Effect, wanted};

/// Returns the tag of a record or input.
pub(crate) fn versioned_tag<T: serde::Serialize>(value: &T) -> String {
    json(value).split('"').nth(1).unwrap().to_owned()
}

/// Returns the tag of a record or input without its version.
pub(crate) fn tag<T: serde::Serialize>(value: &T) -> String {
    versioned_tag(value).split('/').next().unwrap().to_owned()
}

/// Returns the tags of records, in order.
pub(crate) fn tags(records: &[Record]) -> String {
    records.iter().map(tag).collect::<Vec<_>>().join(" ")
}

/// Returns what the model sees, one line per message: `user: hi`, `assistant: <read t1>`,
/// `user: <t1 ok: text> note`.
pub(crate) fn messages(c: &Conversation) -> Vec<String> {
    let messages = request::join_segments(c.transcript.segments().iter());
    messages.iter().map(|message| line(message.role, &message.blocks)).collect()
}

fn line(role: Role, blocks: &[&ContentBlock]) -> String {
    let who = match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let blocks: Vec<String> = blocks.iter().map(|block| short(block)).collect();
    format!("{who}: {}", blocks.join(" | "))
}

fn short(block: &ContentBlock) -> String {
    match block.kind() {
        BlockKind::Text(text) => text.to_string(),
        BlockKind::ToolUse(call) => format!("<{} {}>", call.name, call.id),
        BlockKind::ToolResult { tool_use_id } => format!("<{tool_use_id} {}>", result(block)),
        BlockKind::Other(name) => format!("({name})"),
    }
}

fn result(block: &ContentBlock) -> String {
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

/// Returns what the model sees, as JSON.
pub(crate) fn messages_json(c: &Conversation) -> String {
    let messages = request::join_segments(c.transcript.segments().iter());
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

/// Returns the folded state as stable text: names and numbers are spelled here, so that a new field
/// of a type does not change the digest of an old log.
pub(crate) fn digest(c: &Conversation, entries: usize) -> String {
    let mut out = format!("entries: {entries}\nhead: {}\nat: {}\n", c.head, c.at.0);
    let hash = c.prompt_hash.as_deref().unwrap_or("none");
    let _ = writeln!(out, "phase: {}\nepoch: {}\nprompt hash: {hash}", c.phase_name(), c.epoch);
    let _ = writeln!(out, "asks: {}\nquestions: {}", c.model_call_count, c.question_count);
    let _ = writeln!(out, "usage: {}\ngeneration: {}", usage(&c.usage), c.transcript.generation());
    let queue: Vec<&str> = c.prompt_queue.iter().map(|queued| queued.run.as_str()).collect();
    let _ = writeln!(out, "queue: {}", queue.join(" "));
    c.run.iter().for_each(|run| run_digest(&mut out, run));
    c.last_run_end.iter().for_each(|end| end_digest(&mut out, end));
    let effects: Vec<String> = wanted(c).effects.iter().map(effect).collect();
    let wake = wanted(c).wake_at.map_or("never".to_owned(), |at| at.0.to_string());
    let _ = writeln!(out, "wanted: {}\nwake: {wake}", effects.join(", "));
    let _ = writeln!(out, "messages:\n{}", messages_json(c));
    out
}

fn run_digest(out: &mut String, run: &Run) {
    let stop = run
        .stop_request
        .map_or("none".to_owned(), |stop| format!("{} at {}", json(&stop.mode), stop.at.0));
    let _ = writeln!(out, "run: {}\nused: {}\nstop: {stop}", run.id, counters(&run.counters));
    let _ = writeln!(
        out,
        "pieces: {}\nsteers: {}\ncap: {}",
        json(&run.answer_parts),
        run.steers.len(),
        run.output_cap_tokens
    );
    for question in run.open_questions() {
        let _ = writeln!(out, "open question: {}", json(question));
    }
    for call in run.round().into_iter().flat_map(|round| &round.calls) {
        let _ =
            writeln!(out, "call {} ({}): {}", call.id, call.tool_use.id, call_state(&call.state));
    }
}

fn end_digest(out: &mut String, end: &RunEnd) {
    let _ =
        writeln!(out, "ended: {} {} also {}", end.run, json(&end.cause), json(&end.other_causes));
    let _ = writeln!(out, "said: {}\nused by it: {}", json(&end.text), counters(&end.counters));
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

fn usage(usage: &TokenUsage) -> String {
    let TokenUsage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = usage;
    format!(
        "in {input_tokens} out {output_tokens} read {cache_read_tokens} write {cache_write_tokens}"
    )
}

fn counters(counters: &RunCounters) -> String {
    let RunCounters {
        tool_rounds, model_calls, tool_calls, truncations, reprompts, failures, ..
    } = counters;
    format!(
        "rounds {tool_rounds} asks {model_calls} calls {tool_calls} cuts {truncations} reprompts {reprompts} \
         failures {failures} compactions {} tokens {}",
        counters.reactive_compactions,
        usage(&counters.usage)
    )
}

fn call_state(state: &CallState) -> String {
    match state {
        CallState::AwaitingPreHook => "awaiting pre-hook".to_owned(),
        CallState::AwaitingPermission => "awaiting permission".to_owned(),
        CallState::AwaitingClassifier => "awaiting classifier".to_owned(),
        CallState::AwaitingHuman(question) => format!("awaiting human {}", question.id),
        CallState::AwaitingChildren(away) => format!("awaiting children {}", away.running_count()),
        CallState::Ready => "ready".to_owned(),
        CallState::Running { since } => format!("running since {}", since.0),
        CallState::AwaitingRetry { until } => format!("awaiting retry until {}", until.0),
        CallState::Lost => "lost".to_owned(),
        CallState::AwaitingPostHook(outcome) => format!("awaiting post-hook {}", json(outcome)),
        CallState::Finished(result) => format!("finished {}", json(result)),
    }
}

/// Returns the name of an effect: `model 1`, `run 1.0#1`, `pre-hook 1.0`, `post-hook 1.0`,
/// `probe 1.0`, `record settings`.
pub(crate) fn effect(effect: &Effect) -> String {
    match effect {
        Effect::CallModel(model_call) => format!("model {model_call}"),
        Effect::RunTool { call, attempt } => format!("run {call}#{attempt}"),
        Effect::RunPreHook(call) => format!("pre-hook {call}"),
        Effect::RunPostHook(call) => format!("post-hook {call}"),
        Effect::ProbeCall(call) => format!("probe {call}"),
        Effect::ClassifyCall(call) => format!("classify {call}"),
        Effect::RequestReview(counsel) => format!("review {counsel}"),
        Effect::RecordSettings => "record settings".to_owned(),
    }
}
