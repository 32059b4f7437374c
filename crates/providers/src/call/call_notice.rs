//! Notices: what an adapter changed about a request because the model or the provider does not
//! support it, recorded in the reply's envelope.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::ModelReply;

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
    parts: Vec<(&'static str, Part)>,
    notices: Vec<CallNotice>,
}

/// One field of an envelope.
#[derive(Debug)]
enum Part {
    Json(RawJson),
    /// A text that is not encoded as JSON yet.
    Text(String),
}

impl ReplyEnvelope {
    /// Keeps a field as it is.
    pub(crate) fn insert_json(&mut self, name: &'static str, json: RawJson) {
        self.put(name, Part::Json(json));
    }

    /// Keeps a text, which is encoded as JSON when the envelope is finished.
    pub(crate) fn keep_text(&mut self, name: &'static str, text: String) {
        self.put(name, Part::Text(text));
    }

    fn put(&mut self, name: &'static str, part: Part) {
        self.parts.retain(|(kept, _)| *kept != name);
        self.parts.push((name, part));
    }

    pub(crate) fn add_notice(&mut self, notice: CallNotice) {
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// Returns the envelope as one JSON object; `None` if it is empty.
    pub(crate) fn finish(self) -> Option<RawJson> {
        if self.parts.is_empty() && self.notices.is_empty() {
            return None;
        }
        Some(RawJson::encode(&self))
    }
}

impl Serialize for ReplyEnvelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        for (name, part) in &self.parts {
            match part {
                Part::Json(json) => fields.serialize_entry(name, json)?,
                Part::Text(text) => fields.serialize_entry(name, text)?,
            }
        }
        if !self.notices.is_empty() {
            let names: Vec<&str> = self.notices.iter().map(|notice| notice.name()).collect();
            fields.serialize_entry("notices", &names)?;
        }
        fields.end()
    }
}
