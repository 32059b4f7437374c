//! The result message, with every field that the SDKs know.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::stop::{ResultSubtype as CoreSubtype, StopCause, TextPresence};

use super::failure_kind;
use super::result_label::{ResultAudience, ResultLabel};
use super::result_tally::{ModelTally, ResultTally};
use crate::message::{ModelUsage, ResultMessage, ResultSubtype, TokenCounts};
use crate::stop_text::stop_reason_with;

/// Micro-dollars per dollar.
const MICROS_PER_USD: f64 = 1_000_000.0;

/// The result of a run that ended.
pub(super) fn finished(
    ended: &RunEnd,
    tally: &ResultTally,
    usd_micros: u64,
    audience: ResultAudience,
    (session_id, uuid): (&str, String),
) -> ResultMessage {
    let label = ResultLabel::of_run_end(ended, audience);
    // A prompt that a hook blocked was never a turn.
    let is_blocked = ended.cause == StopCause::HookStopped && ended.counters.model_calls == 0;
    // A run that ends well without a model call had no prompt: it compacted the context.
    let is_compaction = ended.cause == StopCause::EndTurn && ended.counters.model_calls == 0;
    let reason = ResultLabel::terminal_reason(ended.cause, audience, tally.is_in_tools);
    let mut message = ResultMessage {
        num_turns: if is_blocked || is_compaction { 0 } else { tally.turns },
        is_error: label.is_error,
        ok: !label.is_error,
        total_cost_usd: to_dollars(usd_micros),
        usage: TokenCounts::from(&ended.counters.usage),
        model_usage: model_usage(tally),
        active_ms: Some(ended.active_ms),
        stop_cause: Some(ended.cause.as_str().to_owned()),
        structured_output: ended.structured_output.as_ref().and_then(|output| output.read().ok()),
        more: flags(ended),
        ..empty_result(label.subtype, reason, tally, session_id, uuid)
    };
    if is_compaction {
        message.more.insert("local_command".to_owned(), Value::from("compact"));
    }
    if ended.cause == StopCause::ProviderFailed
        && let Some(status) = tally.failure.as_deref().and_then(failure_kind::leading_status)
    {
        message.more.insert("api_error_status".to_owned(), Value::from(status));
    }
    if label.subtype == CoreSubtype::Success {
        let has_words = !label.is_error || ended.cause == StopCause::Refusal;
        let text = if has_words { ended.text.to_string() } else { error_text(ended, tally) };
        message.result = Some(text);
    } else {
        message.errors = Some(vec![error_text(ended, tally)]);
        message.resumable = Some(ended.cause.is_resumable());
    }
    message
}

/// The result of a run that waits, was handed over or rejected, with what it has used so far.
pub(super) fn unfinished(
    reason: &str,
    errors: Vec<String>,
    tally: &ResultTally,
    now: &Conversation,
    (session_id, uuid): (&str, String),
) -> ResultMessage {
    let subtype = CoreSubtype::ErrorDuringExecution;
    let mut message = empty_result(subtype, reason, tally, session_id, uuid);
    message.errors = Some(errors);
    if let Some(run) = &now.run {
        message.num_turns = tally.turns;
        message.usage = TokenCounts::from(&run.counters.usage);
        message.total_cost_usd = to_dollars(run.spent.usd_micros);
        message.model_usage = model_usage(tally);
    }
    message
}

/// The result of a command that needs no model.
pub(super) fn local(
    command: &str,
    text: &str,
    now: &Conversation,
    tally: &ResultTally,
    (session_id, uuid): (&str, String),
) -> ResultMessage {
    let reason = StopCause::EndTurn.terminal_reason();
    let mut message = empty_result(CoreSubtype::Success, reason, tally, session_id, uuid);
    message.stop_reason = None;
    message.result = Some(text.to_owned());
    message.total_cost_usd = to_dollars(now.spent.usd_micros);
    message.more.insert("local_command".to_owned(), Value::from(command));
    message
}

fn empty_result(
    subtype: CoreSubtype,
    reason: &str,
    tally: &ResultTally,
    session_id: &str,
    uuid: String,
) -> ResultMessage {
    let is_success = subtype == CoreSubtype::Success;
    ResultMessage {
        subtype: ResultSubtype::from(subtype),
        ok: is_success,
        is_error: !is_success,
        duration_ms: tally.duration_ms(),
        duration_api_ms: tally.api_ms,
        num_turns: 0,
        session_id: session_id.to_owned(),
        uuid,
        stop_reason: tally.stop_reason.as_deref().map(str::to_owned),
        total_cost_usd: 0.0,
        usage: TokenCounts::default(),
        model_usage: BTreeMap::new(),
        permission_denials: tally.denials.clone(),
        terminal_reason: reason.to_owned(),
        result: None,
        errors: None,
        structured_output: None,
        stop_cause: None,
        active_ms: None,
        resumable: None,
        more: Map::new(),
    }
}

/// Flags, and the call that a hook deferred, which are written only if they are set.
fn flags(ended: &RunEnd) -> Map<String, Value> {
    let flags = [
        ("refusal", ended.cause == StopCause::Refusal),
        ("unexpected", ended.cause == StopCause::Unexpected),
        ("partial", ended.cause == StopCause::SoftTime),
        ("suspect", ended.suspect_reason.is_some()),
    ];
    let set = flags.into_iter().filter(|(_, is_set)| *is_set);
    let deferred = ended.deferred_tool_use.as_ref().map(|tool_use| {
        let input: Value = tool_use.input.read().unwrap_or_default();
        let call = json!({ "id": &*tool_use.id, "name": &*tool_use.name, "input": input });
        ("deferred_tool_use".to_owned(), call)
    });
    set.map(|(name, _)| (name.to_owned(), Value::Bool(true))).chain(deferred).collect()
}

/// Why a run has no result, in a sentence.
pub(super) fn error_text(ended: &RunEnd, tally: &ResultTally) -> String {
    if let (StopCause::ProviderFailed, Some(failure)) = (ended.cause, &tally.failure) {
        return format!("model call failed: {failure}");
    }
    match ended.text_presence() {
        TextPresence::Present => ended.text.to_string(),
        TextPresence::Empty => stop_reason_with(ended.cause, tally.limit.as_deref()),
    }
}

fn to_dollars(usd_micros: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a sum of money people can read")]
    let micros = usd_micros as f64;
    micros / MICROS_PER_USD
}

/// The usage of each called model; the chosen one stands there even if it was never called.
pub(super) fn model_usage(tally: &ResultTally) -> BTreeMap<String, ModelUsage> {
    let is_only = tally.models.len() == 1;
    let is_used =
        |known: &&ModelTally| is_only || known.usage.total_tokens() > 0 || known.usd_micros > 0;
    let used = tally.models.iter().filter(is_used);
    used.map(|known| (known.model.name.to_string(), usage_of(known))).collect()
}

fn usage_of(known: &ModelTally) -> ModelUsage {
    let TokenUsage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } =
        known.usage;
    ModelUsage {
        input_tokens,
        output_tokens,
        cache_read_input_tokens: cache_read_tokens,
        cache_creation_input_tokens: cache_write_tokens,
        web_search_requests: 0,
        cost_usd: to_dollars(known.usd_micros),
        context_window: known.model.window_tokens,
        max_output_tokens: known.model.max_output_tokens,
    }
}
