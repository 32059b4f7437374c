//! What is counted during a run for its result.

use std::sync::Arc;

use windlass_core::context::Summariser;
use windlass_core::log::ids::UnixMillis;
use windlass_core::log::record::Record;
use windlass_core::message::reply::{ModelReply, TokenUsage};
use windlass_core::projection::limit_reached;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::stop::StopCause;

use crate::message::PermissionDenial;

/// What is counted for the result during the run.
#[derive(Clone)]
pub(super) struct ResultTally {
    started_at: Option<UnixMillis>,
    ended_at: Option<UnixMillis>,
    pub(super) api_ms: u64,
    pub(super) stop_reason: Option<Arc<str>>,
    /// The error message of the last failed model call.
    pub(super) failure: Option<Arc<str>>,
    /// Whether tools have run since the last model call.
    pub(super) is_in_tools: bool,
    /// The usage of the limit that ended the run, if one did.
    pub(super) limit: Option<String>,
    pub(super) models: Vec<ModelTally>,
    /// User messages since the prompt, including the prompt.
    pub(super) turns: u64,
    /// Calls that were denied.
    pub(super) denials: Vec<PermissionDenial>,
}

/// Usage of one model.
#[derive(Clone)]
pub(super) struct ModelTally {
    pub(super) model: ModelSpec,
    pub(super) usage: TokenUsage,
    pub(super) usd_micros: u64,
}

/// The usage before a record, and the model that is charged with the difference.
pub(super) struct UsageSnapshot {
    model: ModelSpec,
    usage: TokenUsage,
    usd_micros: u64,
}

impl ResultTally {
    pub(super) fn new(settings: &Settings) -> Self {
        let model = ModelTally {
            model: settings.model.clone(),
            usage: TokenUsage::default(),
            usd_micros: 0,
        };
        Self {
            started_at: None,
            ended_at: None,
            api_ms: 0,
            stop_reason: None,
            failure: None,
            is_in_tools: false,
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

    /// A run starts: everything is counted from here on.
    pub(super) fn start(&mut self, at: UnixMillis, settings: Option<&Settings>) {
        if let Some(settings) = settings {
            *self = Self::new(settings);
        }
        self.started_at = Some(at);
    }

    /// Sets the time of the last entry.
    pub(super) fn observe_time(&mut self, at: UnixMillis) {
        self.started_at.get_or_insert(at);
        self.ended_at = Some(at);
    }

    /// How long the run has taken, from its first to its last entry that was seen.
    pub(super) fn duration_ms(&self) -> u64 {
        match (self.started_at, self.ended_at) {
            (Some(start), Some(end)) => end.ms_since(start),
            _ => 0,
        }
    }

    pub(super) fn add_reply(&mut self, reply: &ModelReply, ms: u64) {
        self.api_ms = self.api_ms.saturating_add(ms);
        self.stop_reason = Some(Arc::from(reply.stop_reason.as_str()));
    }

    /// Records why a model call failed.
    pub(super) fn set_failure(&mut self, message: &Arc<str>) {
        self.failure = Some(Arc::clone(message));
    }

    /// Records which limit ends the run.
    pub(super) fn set_limit(&mut self, now: &Conversation, cause: StopCause) {
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
        if matches!(record, Record::ChildResultReceived { .. }) {
            // What a sub-agent spent belongs to its own model.
            return None;
        }
        let (run, settings) = (now.run.as_ref()?, now.active_settings()?);
        let model = match (record, &settings.window.summariser) {
            (
                Record::ReviewCompleted { .. } | Record::HookModelCharged {},
                Summariser::Model(model),
            ) => model.clone(),
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
