//! System messages that follow from records: modes, compactions, retries, fallbacks, denials.

use serde_json::Value;
use windlass_core::context::CompactionTrigger;
use windlass_core::log::ids::{CallId, InboxMessageId};
use windlass_core::log::inbox::{HistorySource, InboxCommand};
use windlass_core::log::input::Input;
use windlass_core::permission::DenialSource;
use windlass_core::run::active_run::ActiveModel;

use super::{MessageProjection, RecordPlace, ResultAudience, failure_kind};
use crate::message::{
    CompactMetadata, CompactTrigger, CompactionStatus, PermissionDenial, SystemEvent,
};

impl MessageProjection {
    pub(super) fn add_status(
        &mut self,
        status: Option<&str>,
        compact_result: Option<CompactionStatus>,
    ) {
        let status = status.map(str::to_owned);
        let event = SystemEvent::Status { status, permission_mode: None, compact_result };
        let message = self.system_message(event);
        self.messages.push(message);
    }

    pub(super) fn add_mode(&mut self, mode: &windlass_core::permission::PermissionMode) {
        let name = serde_json::to_value(mode).ok();
        let name = name.as_ref().and_then(Value::as_str).map(str::to_owned);
        let event =
            SystemEvent::Status { status: None, permission_mode: name, compact_result: None };
        let message = self.system_message(event);
        self.messages.push(message);
    }

    pub(super) fn add_compaction(
        &mut self,
        place: &RecordPlace<'_>,
        trigger: CompactionTrigger,
        pre_tokens: u64,
    ) {
        let trigger = match trigger {
            CompactionTrigger::Requested => CompactTrigger::Manual,
            CompactionTrigger::Threshold | CompactionTrigger::Reactive => CompactTrigger::Auto,
        };
        self.add_status(None, Some(CompactionStatus::Success));
        let post_tokens = self.estimate_tokens();
        let compact_metadata = CompactMetadata { trigger, pre_tokens, post_tokens };
        self.add_system(place, "compacted", SystemEvent::CompactBoundary { compact_metadata });
    }

    /// Says which messages a conversation goes on from.
    pub(super) fn add_replaced_history(
        &mut self,
        place: &RecordPlace<'_>,
        message: InboxMessageId,
    ) {
        let Input::CommandsReceived { messages } = &place.entry.input else { return };
        let command = messages.iter().find(|candidate| candidate.id == message);
        let Some(InboxCommand::ReplaceHistory { source, .. }) = command.map(|found| &found.body)
        else {
            return;
        };
        let event = match source {
            HistorySource::Rewound { last_message, .. } => {
                SystemEvent::ConversationRewound { last_message: last_message.to_string() }
            }
            HistorySource::Imported { last_message } => {
                SystemEvent::ConversationImported { last_message: last_message.to_string() }
            }
        };
        self.add_system(place, "history", event);
    }

    pub(super) fn add_retry(&mut self, place: &RecordPlace<'_>, attempt: u32, retry_delay_ms: u64) {
        let settings = self.conversation.settings.as_ref();
        let error_status = failure_kind::http_status(&place.entry.input);
        let event = SystemEvent::ApiRetry {
            attempt,
            max_retries: settings.map(|settings| settings.limits.model_retries),
            retry_delay_ms,
            error_status,
            error: failure_kind::name_of(error_status).to_owned(),
        };
        self.add_system(place, "retry", event);
    }

    pub(super) fn add_fallback(&mut self, place: &RecordPlace<'_>, why: &str) {
        let (original, fallback) = self.fallback_names();
        let status = failure_kind::http_status(&place.entry.input);
        let event = SystemEvent::ModelFallback {
            trigger: failure_kind::name_of(status).to_owned(),
            original_model: original.unwrap_or_default(),
            fallback_model: fallback,
            content: why.to_owned(),
        };
        self.add_system(place, "fallback", event);
    }

    /// The models before and after the last switch to a fallback.
    fn fallback_names(&self) -> (Option<String>, Option<String>) {
        let active = self.conversation.run.as_ref().map(|run| run.active_model);
        let (Some(active), Some(settings)) = (active, self.conversation.settings.as_ref()) else {
            return (None, None);
        };
        let name = |model: ActiveModel| model.find(settings).map(|model| model.name.to_string());
        (name(active.previous()), name(active))
    }

    pub(super) fn add_denial(
        &mut self,
        place: &RecordPlace<'_>,
        id: CallId,
        reason: &str,
        by: DenialSource,
    ) {
        let Some(call) = self.conversation.call(id) else { return };
        let denial = PermissionDenial {
            tool_name: call.tool_use.name.to_string(),
            tool_use_id: call.tool_use.id.to_string(),
            tool_input: call.tool_use.input.read().unwrap_or_default(),
            reason: reason.to_owned(),
        };
        // Who denied it knows already; only denials that nobody was asked about are news.
        let is_news = !matches!(by, DenialSource::Human | DenialSource::Hook)
            || self.options.audience == ResultAudience::Programs;
        if is_news {
            let event = SystemEvent::PermissionDenied {
                tool_name: denial.tool_name.clone(),
                tool_use_id: denial.tool_use_id.clone(),
                message: reason.to_owned(),
                decision_reason_type: Some(denial_kind(by).to_owned()),
            };
            self.add_system(place, "denied", event);
        }
        self.tally.denials.push(denial);
    }
}

/// The word for what denied a call.
fn denial_kind(by: DenialSource) -> &'static str {
    match by {
        DenialSource::Rule | DenialSource::NoRule => "rule",
        DenialSource::Mode => "mode",
        DenialSource::Protected => "safetyCheck",
        DenialSource::NoApprover | DenialSource::Human | DenialSource::Expired => "other",
        DenialSource::Hook => "hook",
        DenialSource::Classifier => "classifier",
    }
}
