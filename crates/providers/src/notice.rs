//! What an adapter had to do differently from what it was asked, told in the reply's envelope.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;
use windlass_core::raw::Raw;
use windlass_core::reply::Reply;

/// Something worth knowing about a call that went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Notice {
    /// The model has no such effort: it was asked without.
    EffortIgnored,
    /// The model has no such effort: it was asked with the next lower one.
    EffortLowered,
    /// The model cannot think so: it thinks as it does.
    ThinkingIgnored,
    /// The model cannot be made to call a tool here: it was asked to.
    ForcedChoiceUnavailable,
    /// A tool call was demanded, and none came.
    ToolChoiceIgnored,
    /// The model cannot be told of a task budget: it was asked without.
    TaskBudgetIgnored,
    /// The wire format has no betas: it was asked without.
    BetasIgnored,
    /// The server did not say what the call used: the figures are estimated.
    UsageEstimated,
    /// The stop strings were watched for here, the server was not told of all.
    StopStringsWatched,
    /// The server ended the stream without a stop reason.
    StopReasonMissing,
    /// The answer was not streamed.
    NotStreamed,
    /// The output limit was lowered to what the model can give.
    OutputLimitLowered,
}

impl Notice {
    const ALL: &[(Self, &str)] = &[
        (Self::EffortIgnored, "effort_ignored"),
        (Self::EffortLowered, "effort_lowered"),
        (Self::ThinkingIgnored, "thinking_ignored"),
        (Self::ForcedChoiceUnavailable, "forced_choice_unavailable"),
        (Self::ToolChoiceIgnored, "tool_choice_ignored"),
        (Self::TaskBudgetIgnored, "task_budget_ignored"),
        (Self::BetasIgnored, "betas_ignored"),
        (Self::UsageEstimated, "usage_estimated"),
        (Self::StopStringsWatched, "stop_strings_watched"),
        (Self::StopReasonMissing, "stop_reason_missing"),
        (Self::NotStreamed, "not_streamed"),
        (Self::OutputLimitLowered, "output_limit_lowered"),
    ];

    /// Its name in the envelope.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(notice, _)| *notice == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(notice, _)| *notice)
    }
}

/// The notices in a reply's envelope.
#[must_use]
pub fn notices(reply: &Reply) -> Vec<Notice> {
    reply.notices().iter().filter_map(|name| Notice::named(name)).collect()
}

/// What the provider said besides its blocks, and what we have to add.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    parts: Vec<(&'static str, Box<RawValue>)>,
    notices: Vec<Notice>,
}

impl Envelope {
    /// Keeps a piece of JSON as it came; what is none is left out.
    pub(crate) fn keep(&mut self, name: &'static str, json: &str) {
        if let Ok(value) = serde_json::from_str(json) {
            self.keep_value(name, value);
        }
    }

    /// The same with a piece that was read already.
    pub(crate) fn keep_value(&mut self, name: &'static str, value: &RawValue) {
        self.parts.retain(|(kept, _)| *kept != name);
        self.parts.push((name, value.to_owned()));
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// One JSON object; nothing if there is nothing to tell.
    pub(crate) fn close(self) -> Option<Raw> {
        (!self.parts.is_empty() || !self.notices.is_empty()).then(|| Raw::encode(&self))
    }
}

impl Serialize for Envelope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.parts {
            map.serialize_entry(name, value)?;
        }
        if !self.notices.is_empty() {
            let names: Vec<&str> = self.notices.iter().map(|notice| notice.name()).collect();
            map.serialize_entry("notices", &names)?;
        }
        map.end()
    }
}
