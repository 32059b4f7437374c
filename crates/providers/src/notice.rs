//! What an adapter had to do differently from what it was asked, told in the reply's envelope.

use windlass_core::raw::Raw;
use windlass_core::raw::object::Object;
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
    /// The model takes no temperature: it was asked without.
    TemperatureIgnored,
    /// The temperature was lowered to the most that the provider takes.
    TemperatureLowered,
    /// The provider cannot be told how long to keep the prompt: it was asked without.
    CacheLifetimeIgnored,
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
        (Self::TemperatureIgnored, "temperature_ignored"),
        (Self::TemperatureLowered, "temperature_lowered"),
        (Self::CacheLifetimeIgnored, "cache_lifetime_ignored"),
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
    parts: Vec<(&'static str, Part)>,
    notices: Vec<Notice>,
}

/// One piece of an envelope.
#[derive(Debug)]
enum Part {
    Json(String),
    /// Not written as JSON yet.
    Text(String),
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Json(part) | Self::Text(part) => part.len(),
        }
    }
}

impl Envelope {
    /// Keeps a piece as it came; it was read as JSON already, or made as such.
    pub(crate) fn keep(&mut self, name: &'static str, json: impl Into<String>) {
        self.put(name, Part::Json(json.into()));
    }

    /// Keeps a text, which becomes JSON when the envelope is closed.
    pub(crate) fn keep_text(&mut self, name: &'static str, text: String) {
        self.put(name, Part::Text(text));
    }

    fn put(&mut self, name: &'static str, part: Part) {
        self.parts.retain(|(kept, _)| *kept != name);
        self.parts.push((name, part));
    }

    pub(crate) fn notice(&mut self, notice: Notice) {
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }

    /// One JSON object; nothing if there is nothing to tell.
    pub(crate) fn close(self) -> Option<Raw> {
        if self.parts.is_empty() && self.notices.is_empty() {
            return None;
        }
        let room = self.parts.iter().map(|(_, part)| part.len()).sum();
        let write = |object: Object, (name, part): &(&'static str, Part)| match part {
            Part::Json(json) => object.json(name, json),
            Part::Text(text) => object.text(name, text),
        };
        let object = self.parts.iter().fold(Object::with_room(room), write);
        let names: Vec<&str> = self.notices.iter().map(|notice| notice.name()).collect();
        Some(match names.as_slice() {
            [] => object.close(),
            names => object.json("notices", Raw::encode(names).text()).close(),
        })
    }
}
