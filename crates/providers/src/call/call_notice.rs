//! Notices: what an adapter changed about a request because the model or the provider does not
//! support it, recorded in the reply's envelope.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;
use windlass_core::message::response_envelope::ResponseEnvelope;

/// A notice about a call that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CallNotice {
    /// The model does not support this effort: it was called without an effort.
    EffortIgnored,
    /// The model does not support this effort: it was called with the next lower one.
    EffortLowered,
    /// The model does not support this thinking setting: it was called without it.
    ThinkingIgnored,
    /// The model cannot be forced to call a tool here: the prompt asks it to.
    ForcedChoiceUnavailable,
    /// A tool call was required, and the reply has none.
    ToolChoiceIgnored,
    /// The model does not support a task budget: it was called without.
    TaskBudgetIgnored,
    /// The wire format has no betas: the model was called without.
    BetasIgnored,
    /// The server did not report the usage: the figures are estimated.
    UsageEstimated,
    /// Stop strings were matched locally; the server did not get all of them.
    StopStringsMatchedLocally,
    /// The server ended the stream without a stop reason.
    StopReasonMissing,
    /// The reply was not streamed.
    NotStreamed,
    /// The output limit was lowered to that of the model.
    OutputLimitLowered,
    /// The model does not accept a temperature: it was called without.
    TemperatureIgnored,
    /// The temperature was lowered to the highest that the provider accepts.
    TemperatureLowered,
    /// The provider does not accept a cache lifetime: it was called without.
    CacheLifetimeIgnored,
}

impl CallNotice {
    const ALL: &[(Self, &str)] = &[
        (Self::EffortIgnored, "effort_ignored"),
        (Self::EffortLowered, "effort_lowered"),
        (Self::ThinkingIgnored, "thinking_ignored"),
        (Self::ForcedChoiceUnavailable, "forced_choice_unavailable"),
        (Self::ToolChoiceIgnored, "tool_choice_ignored"),
        (Self::TaskBudgetIgnored, "task_budget_ignored"),
        (Self::BetasIgnored, "betas_ignored"),
        (Self::UsageEstimated, "usage_estimated"),
        (Self::StopStringsMatchedLocally, "stop_strings_watched"),
        (Self::StopReasonMissing, "stop_reason_missing"),
        (Self::NotStreamed, "not_streamed"),
        (Self::OutputLimitLowered, "output_limit_lowered"),
        (Self::TemperatureIgnored, "temperature_ignored"),
        (Self::TemperatureLowered, "temperature_lowered"),
        (Self::CacheLifetimeIgnored, "cache_lifetime_ignored"),
    ];

    /// Returns the name of the notice in the envelope.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(notice, _)| *notice == self).map_or("", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(notice, _)| *notice)
    }
}

/// Returns the notices in a reply's envelope.
#[must_use]
pub fn notices_in(reply: &ModelReply) -> Vec<CallNotice> {
    reply.notices().iter().filter_map(|name| CallNotice::from_name(name)).collect()
}

/// The envelope of a reply: what the provider sent besides its blocks, and the notices.
#[derive(Debug, Default)]
pub(crate) struct ReplyEnvelope {
    fields: Vec<(&'static str, RawJson)>,
    notices: Vec<CallNotice>,
    body: Option<Arc<str>>,
}

impl ReplyEnvelope {
    /// Keeps a field as it is.
    pub(crate) fn insert_json(&mut self, name: &'static str, json: RawJson) {
        self.fields.retain(|(kept, _)| *kept != name);
        self.fields.push((name, json));
    }

    /// Keeps the response body.
    pub(crate) fn keep_body(&mut self, body: Arc<str>) {
        self.body = Some(body);
    }

    pub(crate) fn add_notice(&mut self, notice: CallNotice) {
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// Returns the finished envelope; `None` if it is empty.
    pub(crate) fn finish(self) -> Option<ResponseEnvelope> {
        if self.fields.is_empty() && self.notices.is_empty() && self.body.is_none() {
            return None;
        }
        let fields = RawJson::encode(&self);
        Some(ResponseEnvelope { fields, body: self.body })
    }
}

impl Serialize for ReplyEnvelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        for (name, json) in &self.fields {
            fields.serialize_entry(name, json)?;
        }
        if !self.notices.is_empty() {
            let names: Vec<&str> = self.notices.iter().map(|notice| notice.name()).collect();
            fields.serialize_entry("notices", &names)?;
        }
        fields.end()
    }
}
