//! Plans the thinking and effort parameters within what the model and its format support.

use windlass_core::settings::conversation_settings::Effort;

use crate::call::call_notice::CallNotice;
use crate::catalog::capabilities::{ModelCapabilities, ModelKnowledge, ThinkingKind};
use crate::catalog::provider_table::WireFormat;

/// The output limit below which there is no thinking: a short answer is wanted.
pub(crate) const MIN_THINKING_TOKENS: u64 = 1_024;

/// The thinking parameter of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThinkingParam {
    /// No parameter: the provider's default applies.
    Unset,
    /// Thinking is switched off.
    Off,
    /// Thinking only between tool calls, which is all that "off" can mean for some models.
    BetweenTools,
    /// The model decides how much to think.
    Adaptive,
    /// Thinking is limited to a number of tokens.
    Budget { tokens: u64 },
}

/// What is known of the model's thinking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThinkingPlanner<'a> {
    /// For a model that is not listed, the server decides what it supports.
    pub(crate) knowledge: &'a ModelKnowledge,
    pub(crate) format: WireFormat,
}

/// The name of an effort in requests.
pub(crate) fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}

/// Returns the highest effort that the model supports and that is not higher than `wanted`.
pub(crate) fn supported_effort(
    wanted: Option<Effort>,
    abilities: &ModelCapabilities,
    notices: &mut Vec<CallNotice>,
) -> Option<Effort> {
    let wanted = wanted?;
    let had = abilities.efforts.iter().copied().filter(|effort| *effort <= wanted).max();
    match had {
        None => notices.push(CallNotice::EffortIgnored),
        Some(had) if had < wanted => notices.push(CallNotice::EffortLowered),
        Some(_) => {}
    }
    had
}

impl ThinkingPlanner<'_> {
    /// Plans the parameter for the thinking budget of the settings: `None` leaves it to the model,
    /// zero switches thinking off.
    pub(crate) fn plan(
        self,
        budget_tokens: Option<u64>,
        effort: Option<Effort>,
        max_tokens: u64,
        notices: &mut Vec<CallNotice>,
    ) -> ThinkingParam {
        let thinking = match budget_tokens {
            None => return self.plan_default(effort, max_tokens),
            Some(0) => self.plan_off(effort),
            Some(tokens) => self.plan_budget(tokens),
        };
        thinking.unwrap_or_else(|| {
            notices.push(CallNotice::ThinkingIgnored);
            if budget_tokens == Some(0) {
                ThinkingParam::Unset
            } else {
                self.plan_default(effort, max_tokens)
            }
        })
    }

    fn supports(self, kind: ThinkingKind) -> bool {
        self.knowledge.capabilities().thinking.contains(&kind)
    }

    fn is_anthropic(self) -> bool {
        self.format == WireFormat::AnthropicMessages
    }

    /// Leaves thinking to the model. A model that always thinks adaptively needs no parameter, and
    /// a small output limit leaves no space for thinking.
    fn plan_default(self, effort: Option<Effort>, max_tokens: u64) -> ThinkingParam {
        let adapts = self.supports(ThinkingKind::Adaptive) && !self.supports(ThinkingKind::Always);
        if !self.is_anthropic() || !self.knowledge.is_listed() {
            ThinkingParam::Unset
        } else if max_tokens <= MIN_THINKING_TOKENS {
            self.plan_off(effort).unwrap_or(ThinkingParam::Unset)
        } else if adapts {
            ThinkingParam::Adaptive
        } else {
            ThinkingParam::Unset
        }
    }

    /// Names adaptive thinking, which some models do without a parameter: a display is part of the
    /// parameter.
    pub(crate) fn with_explicit_adaptive(self, thinking: ThinkingParam) -> ThinkingParam {
        let thinks = self.supports(ThinkingKind::Adaptive) && self.supports(ThinkingKind::Always);
        match thinking {
            ThinkingParam::Unset if thinks && self.is_anthropic() && self.knowledge.is_listed() => {
                ThinkingParam::Adaptive
            }
            planned => planned,
        }
    }

    /// Switches thinking off; `None` if the model does not support that.
    fn plan_off(self, effort: Option<Effort>) -> Option<ThinkingParam> {
        let never_thinks =
            self.knowledge.is_listed() && self.knowledge.capabilities().thinking.is_empty();
        let hard = effort > Some(Effort::High);
        if never_thinks {
            Some(ThinkingParam::Unset)
        } else if self.supports(ThinkingKind::Always)
            || hard && self.supports(ThinkingKind::AlwaysAboveHighEffort)
        {
            None
        } else if self.supports(ThinkingKind::BetweenTools) {
            Some(ThinkingParam::BetweenTools)
        } else {
            Some(ThinkingParam::Off)
        }
    }

    /// Limits thinking; `None` if the model does not support that.
    fn plan_budget(self, tokens: u64) -> Option<ThinkingParam> {
        let can = self.is_anthropic() && self.supports(ThinkingKind::Budget);
        can.then_some(ThinkingParam::Budget { tokens })
    }
}
