//! How hard and how a model thinks: what was wanted, as far as the model and its format have it.

use windlass_core::settings::Effort;

use crate::capabilities::{Abilities, ThinkingKind};
use crate::names::Format;
use crate::notice::Notice;

/// Below this output limit there is no room for thoughts: a word is wanted, not an essay.
pub(crate) const LEAST_ROOM_TOKENS: u64 = 1_024;

/// What a request says about thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// Nothing: as the provider has it.
    Unset,
    /// Not at all.
    Off,
    /// Only between calls: all that "off" can mean for some models.
    BetweenTools,
    /// As much as the model finds right.
    Adaptive,
    /// Up to a number of tokens.
    Budget { tokens: u64 },
}

/// What is known of the model that is to think.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thinker<'a> {
    pub(crate) abilities: &'a Abilities,
    /// Whether the table lists it. The server of one that is not listed knows best what it can do.
    pub(crate) listed: bool,
    pub(crate) format: Format,
}

/// The word for an effort.
pub(crate) fn word(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Xhigh => "xhigh",
        Effort::Max => "max",
    }
}

/// The hardest effort the model knows that is not more than was wanted.
pub(crate) fn effort(
    wanted: Option<Effort>,
    abilities: &Abilities,
    notices: &mut Vec<Notice>,
) -> Option<Effort> {
    let wanted = wanted?;
    let had = abilities.efforts.iter().copied().filter(|effort| *effort <= wanted).max();
    match had {
        None => notices.push(Notice::EffortIgnored),
        Some(had) if had < wanted => notices.push(Notice::EffortLowered),
        Some(_) => {}
    }
    had
}

impl Thinker<'_> {
    /// What to say, for a budget as the settings have it: nothing leaves it to the model, zero
    /// switches it off.
    pub(crate) fn thinking(
        self,
        budget_tokens: Option<u64>,
        effort: Option<Effort>,
        max_tokens: u64,
        notices: &mut Vec<Notice>,
    ) -> Thinking {
        let thinking = match budget_tokens {
            None => return self.free(effort, max_tokens),
            Some(0) => self.off(effort),
            Some(tokens) => self.budget(tokens),
        };
        thinking.unwrap_or_else(|| {
            notices.push(Notice::ThinkingIgnored);
            if budget_tokens == Some(0) { Thinking::Unset } else { self.free(effort, max_tokens) }
        })
    }

    fn can(self, kind: ThinkingKind) -> bool {
        self.abilities.thinking.contains(&kind)
    }

    fn is_messages(self) -> bool {
        self.format == Format::AnthropicMessages
    }

    /// Left to the model. One that always thinks as it likes need not be told, and where there is
    /// no room for thoughts it had better not have any.
    fn free(self, effort: Option<Effort>, max_tokens: u64) -> Thinking {
        let adapts = self.can(ThinkingKind::Adaptive) && !self.can(ThinkingKind::Always);
        if !self.is_messages() || !self.listed {
            Thinking::Unset
        } else if max_tokens <= LEAST_ROOM_TOKENS {
            self.off(effort).unwrap_or(Thinking::Unset)
        } else if adapts {
            Thinking::Adaptive
        } else {
            Thinking::Unset
        }
    }

    /// Nothing if it cannot be switched off.
    fn off(self, effort: Option<Effort>) -> Option<Thinking> {
        let never_thinks = self.listed && self.abilities.thinking.is_empty();
        let hard = effort > Some(Effort::High);
        if never_thinks {
            Some(Thinking::Unset)
        } else if self.can(ThinkingKind::Always) || hard && self.can(ThinkingKind::HardAlways) {
            None
        } else if self.can(ThinkingKind::BetweenTools) {
            Some(Thinking::BetweenTools)
        } else {
            Some(Thinking::Off)
        }
    }

    /// Nothing if it cannot be bounded.
    fn budget(self, tokens: u64) -> Option<Thinking> {
        let can = self.is_messages() && self.can(ThinkingKind::Budget);
        can.then_some(Thinking::Budget { tokens })
    }
}
