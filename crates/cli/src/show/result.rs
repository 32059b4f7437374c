//! The result as one JSON object, with every field the SDKs know.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use windlass::core::conversation::{Conversation, Ended};
use windlass::core::ids::LaneId;
use windlass::core::project::limit_reached;
use windlass::core::question::Question;
use windlass::core::record::Record;
use windlass::core::reply::{Reply, Usage};
use windlass::core::settings::{Model, Settings};
use windlass::core::stop::Subtype;
use windlass::core::window::Summariser;
use windlass::{End, StopCause};

use super::messages::usage;
use crate::look::words::why_with;
use crate::present::QuestionView;
use crate::sdk::Label;
use crate::words;

/// Micro-dollars of a dollar.
const MICROS: f64 = 1_000_000.0;

/// What is counted for the result while the run goes on.
pub(super) struct Tally {
    since: Instant,
    api_ms: u64,
    stop_reason: Option<Arc<str>>,
    /// What the provider said when it failed last.
    failure: Option<Arc<str>>,
    /// How much of which limit was used, if one ended the run.
    limit: Option<String>,
    models: Vec<ModelTally>,
    /// Messages on the user's side since the prompt, and the prompt.
    turns: u64,
    /// Calls that were denied.
    pub(super) denials: Vec<Value>,
}

/// What one model used.
struct ModelTally {
    model: Model,
    usage: Usage,
    usd_micros: u64,
}

/// How much was used before a record, and by which model more is used with it.
pub(super) struct Counted {
    model: Model,
    usage: Usage,
    usd_micros: u64,
}

impl Tally {
    #[expect(clippy::disallowed_methods, reason = "a result says how long people have waited")]
    pub(super) fn new(settings: &Settings) -> Self {
        let model =
            ModelTally { model: settings.model.clone(), usage: Usage::default(), usd_micros: 0 };
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

    /// The same for a run that has begun: what it used so far counts.
    pub(super) fn after(before: &Conversation, settings: &Settings) -> Self {
        let mut tally = Self::new(settings);
        if let (Some(run), Some(settings)) = (&before.run, before.settings_in_use()) {
            tally.add(&settings.model, &run.counters.usage, run.spent.usd_micros);
        }
        tally
    }

    pub(super) fn replied(&mut self, reply: &Reply, ms: u64) {
        self.api_ms = self.api_ms.saturating_add(ms);
        self.stop_reason = Some(Arc::from(reply.stop_reason.as_str()));
    }

    /// Keeps why a model call failed.
    pub(super) fn failed(&mut self, message: &Arc<str>) {
        self.failure = Some(Arc::clone(message));
    }

    /// Keeps which limit ends the run.
    pub(super) fn ends(&mut self, now: &Conversation, cause: StopCause) {
        self.limit = limit_reached(now, cause);
    }

    /// Counts one more message on the user's side.
    pub(super) fn count_turn(&mut self) {
        self.turns = self.turns.saturating_add(1);
    }

    /// How things stand before a record.
    pub(super) fn begin_count(&self, now: &Conversation, record: &Record) -> Option<Counted> {
        let (run, settings) = (now.run.as_ref()?, now.settings_in_use()?);
        let model = match (record, &settings.window.summariser) {
            (Record::CounselHeard { .. }, Summariser::Model(model)) => model.clone(),
            _ => settings.model.clone(),
        };
        Some(Counted { model, usage: run.counters.usage, usd_micros: run.spent.usd_micros })
    }

    /// What came with the record is its model's.
    pub(super) fn end_count(&mut self, now: &Conversation, before: Option<Counted>) {
        if let (Some(run), Some(before)) = (&now.run, before) {
            let usage = more(&run.counters.usage, &before.usage);
            let usd_micros = run.spent.usd_micros.saturating_sub(before.usd_micros);
            self.add(&before.model, &usage, usd_micros);
        }
    }

    fn add(&mut self, model: &Model, usage: &Usage, usd_micros: u64) {
        if usage.total() == 0 && usd_micros == 0 {
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

/// What is used after and was not before.
fn more(after: &Usage, before: &Usage) -> Usage {
    Usage {
        input_tokens: after.input_tokens.saturating_sub(before.input_tokens),
        output_tokens: after.output_tokens.saturating_sub(before.output_tokens),
        cache_read_tokens: after.cache_read_tokens.saturating_sub(before.cache_read_tokens),
        cache_write_tokens: after.cache_write_tokens.saturating_sub(before.cache_write_tokens),
    }
}

/// The id a program knows the conversation by.
pub(crate) fn session_id(lane: &LaneId) -> String {
    lane.session_id().to_owned()
}

/// The result, without the fields every message has.
pub(super) fn message(
    end: &End,
    tally: &Tally,
    now: &Conversation,
    lane: &LaneId,
) -> anyhow::Result<Value> {
    let mut message = match end {
        End::Finished(ended) => return finished(ended, tally),
        End::Parked(questions) => waiting(questions, tally, now, lane)?,
        End::Refused(why) => without(why, &[why.to_string()], tally)?,
        End::HandedOver => without("handed_over", &["handed_over".to_owned()], tally)?,
    };
    put_spent(&mut message, now, tally);
    Ok(message)
}

/// The result of a run that is left waiting for its provider.
pub(super) fn left(said: &str, tally: &Tally, now: &Conversation) -> anyhow::Result<Value> {
    let mut message = without("waiting_on_provider", &[said.to_owned()], tally)?;
    put_spent(&mut message, now, tally);
    Ok(message)
}

/// What a run that goes on later has used so far.
fn put_spent(message: &mut Value, now: &Conversation, tally: &Tally) {
    if let (Some(fields), Some(run)) = (message.as_object_mut(), &now.run) {
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        put("num_turns", json!(tally.turns));
        put("usage", usage(&run.counters.usage));
        put("total_cost_usd", json!(dollars(run.spent.usd_micros)));
        put("modelUsage", model_usage(tally));
    }
}

fn finished(ended: &Ended, tally: &Tally) -> anyhow::Result<Value> {
    let label = Label::of(ended);
    let mut message = common(label.subtype, ended.cause.terminal(), tally)?;
    let fields = message.as_object_mut().into_iter();
    for fields in fields {
        let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
        // A prompt that a hook blocked was never a turn.
        let is_blocked = ended.cause == StopCause::HookStopped && ended.counters.model_calls == 0;
        put("num_turns", json!(if is_blocked { 0 } else { tally.turns }));
        put("ok", json!(!label.is_error));
        put("is_error", json!(label.is_error));
        put("total_cost_usd", json!(dollars(ended.spent.usd_micros)));
        put("usage", usage(&ended.counters.usage));
        put("modelUsage", model_usage(tally));
        put("active_ms", json!(ended.active_ms));
        put("stop_cause", json!(ended.cause.name()));
        if label.subtype == Subtype::Success {
            let has_words = !label.is_error || ended.cause == StopCause::Refusal;
            let text = if has_words { ended.text.to_string() } else { error(ended, tally) };
            put("result", json!(text));
        } else {
            put("errors", json!([error(ended, tally)]));
            put("resumable", json!(ended.cause.is_resumable()));
        }
        if let Some(structured) = &ended.structured {
            put("structured_output", structured.read().unwrap_or_default());
        }
        // Said only where they say something.
        let flags = [
            ("refusal", ended.cause == StopCause::Refusal),
            ("unexpected", ended.cause == StopCause::Unexpected),
            ("partial", ended.cause == StopCause::SoftTime),
            ("suspect", ended.suspect.is_some()),
        ];
        for (name, _) in flags.into_iter().filter(|(_, set)| *set) {
            put(name, json!(true));
        }
    }
    Ok(message)
}

fn error(ended: &Ended, tally: &Tally) -> String {
    if let (StopCause::ProviderFailed, Some(failure)) = (ended.cause, &tally.failure) {
        return format!("model call failed: {failure}");
    }
    match ended.has_text() {
        windlass::core::stop::Text::Some => ended.text.to_string(),
        windlass::core::stop::Text::Nothing => why_with(ended.cause, tally.limit.as_deref()),
    }
}

fn dollars(usd_micros: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a sum of money people can read")]
    let micros = usd_micros as f64;
    micros / MICROS
}

/// What each model used that was asked; the first is the one that was chosen.
fn model_usage(tally: &Tally) -> Value {
    let used = |(at, known): &(usize, &ModelTally)| {
        let is_used = known.usage.total() > 0 || known.usd_micros > 0;
        is_used || (*at == 0 && tally.models.len() == 1)
    };
    let entry = |(_, known): (usize, &ModelTally)| {
        let Usage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } =
            known.usage;
        let usage = json!({
            "inputTokens": input_tokens,
            "outputTokens": output_tokens,
            "cacheReadInputTokens": cache_read_tokens,
            "cacheCreationInputTokens": cache_write_tokens,
            "webSearchRequests": 0,
            "costUSD": dollars(known.usd_micros),
            "contextWindow": known.model.window_tokens,
            "maxOutputTokens": known.model.most_output_tokens,
        });
        (known.model.name.to_string(), usage)
    };
    Value::Object(tally.models.iter().enumerate().filter(used).map(entry).collect())
}

/// What a parked run asks, and how to answer it.
fn waiting(
    questions: &[Question],
    tally: &Tally,
    now: &Conversation,
    lane: &LaneId,
) -> anyhow::Result<Value> {
    let asked = |question: &Question| words::question_and_answers(question, now, lane);
    let asked: Vec<String> = questions.iter().map(asked).collect();
    let mut message = without("waiting_on_human", &asked, tally)?;
    if let Some(fields) = message.as_object_mut() {
        let views: Vec<QuestionView> =
            questions.iter().map(|question| QuestionView::new(question, now)).collect();
        fields.insert("questions".to_owned(), serde_json::to_value(views)?);
    }
    Ok(message)
}

/// The answer to a command that needs no model.
pub(super) fn local(
    command: &str,
    said: &str,
    settings: &Settings,
    now: &Conversation,
) -> anyhow::Result<Value> {
    let mut message =
        common(Subtype::Success, StopCause::EndTurn.terminal(), &Tally::new(settings))?;
    if let Some(fields) = message.as_object_mut() {
        fields.insert("result".to_owned(), json!(said));
        fields.insert("local_command".to_owned(), json!(command));
        fields.insert("total_cost_usd".to_owned(), json!(dollars(now.spent.usd_micros)));
    }
    Ok(message)
}

/// Nothing could be begun, and this is why.
pub(super) fn not_begun(why: &str) -> anyhow::Result<Value> {
    let nobody = Settings::new(Model::named(""));
    without("no_conversation", &[why.to_owned()], &Tally::new(&nobody))
}

fn without(reason: &str, errors: &[String], tally: &Tally) -> anyhow::Result<Value> {
    let mut message = common(Subtype::ErrorDuringExecution, reason, tally)?;
    if let Some(fields) = message.as_object_mut() {
        fields.insert("errors".to_owned(), json!(errors));
    }
    Ok(message)
}

fn common(subtype: Subtype, terminal: &str, tally: &Tally) -> anyhow::Result<Value> {
    Ok(json!({
        "type": "result",
        "subtype": serde_json::to_value(subtype)?,
        "ok": subtype == Subtype::Success,
        "is_error": subtype != Subtype::Success,
        "duration_ms": u64::try_from(tally.since.elapsed().as_millis()).unwrap_or(u64::MAX),
        "duration_api_ms": tally.api_ms,
        "num_turns": 0,
        "stop_reason": tally.stop_reason,
        "total_cost_usd": 0.0,
        "usage": usage(&Usage::default()),
        "modelUsage": {},
        "permission_denials": tally.denials,
        "terminal_reason": terminal,
    }))
}
