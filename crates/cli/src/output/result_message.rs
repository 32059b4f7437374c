//! The result message, with every field the SDKs know.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use windlass::core::context::Summariser;
use windlass::core::log::ids::LaneId;
use windlass::core::log::record::Record;
use windlass::core::message::reply::{ModelReply, TokenUsage};
use windlass::core::projection::limit_reached;
use windlass::core::run::conversation::{Conversation, RunEnd};
use windlass::core::run::question::Question;
use windlass::core::settings::conversation_settings::{ModelSpec, Settings};
use windlass::core::stop::ResultSubtype;
use windlass::{RunOutcome, StopCause};

use super::sdk_messages::usage_fields;
use crate::messages::stop_reason_with;
use crate::messages::{self, QuestionView};
use crate::sdk::ResultLabel;

/// Micro-dollars per dollar.
const MICROS_PER_USD: f64 = 1_000_000.0;

/// What is counted for the result during the run.
pub(super) struct ResultTally {
    since: Instant,
    api_ms: u64,
    stop_reason: Option<Arc<str>>,
    /// The error message of the last failed model call.
    failure: Option<Arc<str>>,
    /// The usage of the limit that ended the run, if one did.
    limit: Option<String>,
    models: Vec<ModelTally>,
    /// User messages since the prompt, including the prompt.
    turns: u64,
    /// Calls that were denied.
    pub(super) denials: Vec<Value>,
}

/// Usage of one model.
struct ModelTally {
    model: ModelSpec,
    usage: TokenUsage,
    usd_micros: u64,
}

/// The usage before a record, and the model that is charged with the difference.
pub(super) struct UsageSnapshot {
    model: ModelSpec,
    usage: TokenUsage,
    usd_micros: u64,
}

impl ResultTally {
    #[expect(clippy::disallowed_methods, reason = "a result says how long people have waited")]
    pub(super) fn new(settings: &Settings) -> Self {
        let model = ModelTally {
            model: settings.model.clone(),
            usage: TokenUsage::default(),
            usd_micros: 0,
        };
        Self {
            since: Instant::now(),
            api_ms: 0,
            stop_reason: None,
            failure: None,
            limit: None,
            models: vec![model],
            turns: 1,
            denials: Vec::new(),
        }
    }

    /// Continues from the state before a resumed run: what it used so far counts.
    pub(super) fn for_resumed_run(before: &Conversation, settings: &Settings) -> Self {
        let mut tally = Self::new(settings);
        if let (Some(run), Some(settings)) = (&before.run, before.active_settings()) {
            tally.add_model_usage(&settings.model, &run.counters.usage, run.spent.usd_micros);
        }
        tally
    }

    pub(super) fn add_reply(&mut self, reply: &ModelReply, ms: u64) {
        self.api_ms = self.api_ms.saturating_add(ms);
        self.stop_reason = Some(Arc::from(reply.stop_reason.as_str()));
    }

    /// Records why a model call failed.
    pub(super) fn set_failure(&mut self, message: &Arc<str>) {
        self.failure = Some(Arc::clone(message));
    }

    /// Records which limit ended the run.
    pub(super) fn ends(&mut self, now: &Conversation, cause: StopCause) {
        self.limit = limit_reached(now, cause);
    }

    /// Counts one more user message.
    pub(super) fn count_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// The usage before a record.
    pub(super) fn snapshot_usage(
        &self,
        now: &Conversation,
        record: &Record,
    ) -> Option<UsageSnapshot> {
        let (run, settings) = (now.run.as_ref()?, now.active_settings()?);
        let model = match (record, &settings.window.summariser) {
            (Record::ReviewCompleted { .. }, Summariser::Model(model)) => model.clone(),
            _ => settings.model.clone(),
        };
        Some(UsageSnapshot { model, usage: run.counters.usage, usd_micros: run.spent.usd_micros })
    }

    /// Adds the usage since the snapshot to its model.
    pub(super) fn add_usage_since(&mut self, now: &Conversation, before: Option<UsageSnapshot>) {
        if let (Some(run), Some(before)) = (&now.run, before) {
            let usage = usage_difference(&run.counters.usage, &before.usage);
            let usd_micros = run.spent.usd_micros.saturating_sub(before.usd_micros);
            self.add_model_usage(&before.model, &usage, usd_micros);
        }
    }

    fn add_model_usage(&mut self, model: &ModelSpec, usage: &TokenUsage, usd_micros: u64) {
        if usage.total_tokens() == 0 && usd_micros == 0 {
            return;
        }
        match self.models.iter_mut().find(|known| known.model.name == model.name) {
            Some(known) => {
                known.usage.add(usage);
                known.usd_micros = known.usd_micros.saturating_add(usd_micros);
            }
            None => {
                self.models.push(ModelTally { model: model.clone(), usage: *usage, usd_micros });
            }
        }
    }
}

/// The usage after, without the usage before.
fn usage_difference(after: &TokenUsage, before: &TokenUsage) -> TokenUsage {
    TokenUsage {
        input_tokens: after.input_tokens.saturating_sub(before.input_tokens),
        output_tokens: after.output_tokens.saturating_sub(before.output_tokens),
        cache_read_tokens: after.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_tokens: after.cache_write_tokens.saturating_sub(before.cache_write_tokens),
    }
}

/// The session id of the conversation, for programs.
pub(crate) fn session_id(lane: &LaneId) -> String {
    lane.session_id().to_owned()
}

/// Builds the result, without the fields of every message.
pub(super) fn build_result(
    end: &RunOutcome,
    tally: &ResultTally,
    now: &Conversation,
    lane: &LaneId,
) -> anyhow::Result<Value> {
    let mut message = match end {
        RunOutcome::Finished(ended) => return finished_result(ended, tally),
        RunOutcome::Parked(questions) => parked_result(questions, tally, now, lane)?,
        RunOutcome::Rejected(reason) => {
            let why = messages::command_rejection(reason);
            error_result(&why, std::slice::from_ref(&why), tally)?
        }
        RunOutcome::HandedOver => error_result("handed_over", &["handed_over".to_owned()], tally)?,
    };
    set_spending(&mut message, now, tally);
    Ok(message)
}

/// The result of a run whose model stayed unreachable.
pub(super) fn unreachable_result(
    said: &str,
    tally: &ResultTally,
    now: &Conversation,
) -> anyhow::Result<Value> {
    let mut message = error_result("waiting_on_provider", &[said.to_owned()], tally)?;
    set_spending(&mut message, now, tally);
    Ok(message)
}

/// Sets what a run that continues later has used so far.
fn set_spending(message: &mut Value, now: &Conversation, tally: &ResultTally) {
    if let (Some(fields), Some(run)) = (message.as_object_mut(), &now.run) {
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("num_turns", json!(tally.turns));
        put("usage", usage_fields(&run.counters.usage));
        put("total_cost_usd", json!(to_dollars(run.spent.usd_micros)));
        put("modelUsage", model_usage(tally));
    }
}

fn finished_result(ended: &RunEnd, tally: &ResultTally) -> anyhow::Result<Value> {
    let label = ResultLabel::from_run_end(ended);
    let mut message = common_fields(label.subtype, ended.cause.terminal_reason(), tally)?;
    let fields = message.as_object_mut().into_iter();
    for fields in fields {
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        // A prompt that a hook blocked was never a turn.
        let is_blocked = ended.cause == StopCause::HookStopped && ended.counters.model_calls == 0;
        put("num_turns", json!(if is_blocked { 0 } else { tally.turns }));
        put("ok", json!(!label.is_error));
        put("is_error", json!(label.is_error));
        put("total_cost_usd", json!(to_dollars(ended.spent.usd_micros)));
        put("usage", usage_fields(&ended.counters.usage));
        put("modelUsage", model_usage(tally));
        put("active_ms", json!(ended.active_ms));
        put("stop_cause", json!(ended.cause.as_str()));
        if label.subtype == ResultSubtype::Success {
            let has_words = !label.is_error || ended.cause == StopCause::Refusal;
            let text = if has_words { ended.text.to_string() } else { error_text(ended, tally) };
            put("result", json!(text));
        } else {
            put("errors", json!([error_text(ended, tally)]));
            put("resumable", json!(ended.cause.is_resumable()));
        }
        if let Some(structured) = &ended.structured_output {
            put("structured_output", structured.read().unwrap_or_default());
        }
        // Flags are written only if they are set.
        let flags = [
            ("refusal", ended.cause == StopCause::Refusal),
            ("unexpected", ended.cause == StopCause::Unexpected),
            ("partial", ended.cause == StopCause::SoftTime),
            ("suspect", ended.suspect_reason.is_some()),
        ];
        for (name, _) in flags.into_iter().filter(|(_, set)| *set) {
            put(name, json!(true));
        }
    }
    Ok(message)
}

fn error_text(ended: &RunEnd, tally: &ResultTally) -> String {
    if let (StopCause::ProviderFailed, Some(failure)) = (ended.cause, &tally.failure) {
        return format!("model call failed: {failure}");
    }
    match ended.text_presence() {
        windlass::core::stop::TextPresence::Present => ended.text.to_string(),
        windlass::core::stop::TextPresence::Empty => {
            stop_reason_with(ended.cause, tally.limit.as_deref())
        }
    }
}

fn to_dollars(usd_micros: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a sum of money people can read")]
    let micros = usd_micros as f64;
    micros / MICROS_PER_USD
}

/// The usage of each called model; the first is the chosen one.
fn model_usage(tally: &ResultTally) -> Value {
    let used = |(at, known): &(usize, &ModelTally)| {
        let is_used = known.usage.total_tokens() > 0 || known.usd_micros > 0;
        is_used || (*at == 0 && tally.models.len() == 1)
    };
    let entry = |(_, known): (usize, &ModelTally)| {
        let TokenUsage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } =
            known.usage;
        let usage = json!({
            "inputTokens": input_tokens,
            "outputTokens": output_tokens,
            "cacheReadInputTokens": cache_read_tokens,
            "cacheCreationInputTokens": cache_write_tokens,
            "webSearchRequests": 0,
            "costUSD": to_dollars(known.usd_micros),
            "contextWindow": known.model.window_tokens,
            "maxOutputTokens": known.model.max_output_tokens,
        });
        (known.model.name.to_string(), usage)
    };
    Value::Object(tally.models.iter().enumerate().filter(used).map(entry).collect())
}

/// The result of a parked run: its questions, and how to answer them.
fn parked_result(
    questions: &[Question],
    tally: &ResultTally,
    now: &Conversation,
    lane: &LaneId,
) -> anyhow::Result<Value> {
    let asked = |question: &Question| messages::question_with_answers(question, now, lane);
    let asked: Vec<String> = questions.iter().map(asked).collect();
    let mut message = error_result("waiting_on_human", &asked, tally)?;
    if let Some(fields) = message.as_object_mut() {
        let views: Vec<QuestionView> =
            questions.iter().map(|question| QuestionView::new(question, now)).collect();
        fields.insert("questions".to_owned(), serde_json::to_value(views)?);
    }
    Ok(message)
}

/// The result of a command that needs no model.
pub(super) fn local_result(
    command: &str,
    said: &str,
    settings: &Settings,
    now: &Conversation,
) -> anyhow::Result<Value> {
    let mut message = common_fields(
        ResultSubtype::Success,
        StopCause::EndTurn.terminal_reason(),
        &ResultTally::new(settings),
    )?;
    if let Some(fields) = message.as_object_mut() {
        fields.insert("result".to_owned(), json!(said));
        fields.insert("local_command".to_owned(), json!(command));
        fields.insert("total_cost_usd".to_owned(), json!(to_dollars(now.spent.usd_micros)));
    }
    Ok(message)
}

/// The error result if no conversation could be opened.
pub(super) fn no_conversation_result(reason: &str) -> anyhow::Result<Value> {
    let nobody = Settings::new(ModelSpec::with_defaults(""));
    error_result("no_conversation", &[reason.to_owned()], &ResultTally::new(&nobody))
}

fn error_result(reason: &str, errors: &[String], tally: &ResultTally) -> anyhow::Result<Value> {
    let mut message = common_fields(ResultSubtype::ErrorDuringExecution, reason, tally)?;
    if let Some(fields) = message.as_object_mut() {
        fields.insert("errors".to_owned(), json!(errors));
    }
    Ok(message)
}

fn common_fields(
    subtype: ResultSubtype,
    terminal: &str,
    tally: &ResultTally,
) -> anyhow::Result<Value> {
    Ok(json!({
        "type": "result",
        "subtype": serde_json::to_value(subtype)?,
        "ok": subtype == ResultSubtype::Success,
        "is_error": subtype != ResultSubtype::Success,
        "duration_ms": u64::try_from(tally.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        "duration_api_ms": tally.api_ms,
        "num_turns": 0,
        "stop_reason": tally.stop_reason,
        "total_cost_usd": 0.0,
        "usage": usage_fields(&TokenUsage::default()),
        "modelUsage": {},
        "permission_denials": tally.denials,
        "terminal_reason": terminal,
    }))
}
