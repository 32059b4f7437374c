//! Budgets in tokens and dollars. The worst case of a model call is reserved before it starts: the
//! output is lowered to what the rest of the budget can pay for, and when not even the input fits
//! no call is made. A cap is therefore exceeded by one reserved call at most, and only when the
//! estimate of the input was too low.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::log::ids::UnixMillis;
use crate::message::reply::TokenUsage;
use crate::stop::StopCause;

/// The price of a model in micro-dollars per million tokens, by cache class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelPrice {
    /// Price of input that is not cached.
    pub input_usd_micros: u64,
    /// Price of output.
    pub output_usd_micros: u64,
    /// Price of input that is read from the cache.
    pub cache_read_usd_micros: u64,
    /// Price of input that is written to the cache.
    pub cache_write_usd_micros: u64,
    /// Different prices for long prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<LongPromptPrice>,
}

/// The prices of a whole call whose prompt, cached or not, is longer than a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPromptPrice {
    /// The threshold: prompts with more input tokens have these prices.
    pub input_tokens: u64,
    /// Price of input that is not cached.
    pub input_usd_micros: u64,
    /// Price of output.
    pub output_usd_micros: u64,
    /// Price of input that is read from the cache.
    pub cache_read_usd_micros: u64,
    /// Price of input that is written to the cache.
    pub cache_write_usd_micros: u64,
}

/// Spending caps; `None` means no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SpendingCaps {
    /// Cap on tokens.
    pub tokens: Option<u64>,
    /// Cap on micro-dollars.
    pub usd_micros: Option<u64>,
}

/// Spending under a cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spending {
    /// Tokens that were spent.
    pub tokens: u64,
    /// Micro-dollars that were spent; calls without a known price count as zero and are reported
    /// elsewhere.
    pub usd_micros: u64,
}

/// The caps of a conversation, by scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Caps of one model call.
    pub call: SpendingCaps,
    /// Caps of one run.
    pub run: SpendingCaps,
    /// Caps of all runs of the conversation.
    pub conversation: SpendingCaps,
    /// Caps of all conversations of the profile, and what they spent before this one.
    pub profile: SharedBudget,
    /// What happens when a cap is reached.
    pub at_cap: CapAction,
    /// What happens to a dollar cap when the price of the model is unknown.
    pub unpriced: UnpricedPolicy,
    /// When the dollar cap of a run is checked.
    #[serde(skip_serializing_if = "CapCheck::is_before_call")]
    pub run_usd_check: CapCheck,
}

/// When a cap is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapCheck {
    /// Before a model call: the call is not made if its worst case could exceed the cap.
    #[default]
    BeforeCall,
    /// After a reply: calls are made until the cap is reached, so the last one may exceed it.
    AfterReply,
}

impl CapCheck {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    fn is_before_call(&self) -> bool {
        *self == Self::BeforeCall
    }
}

/// Caps that are shared with other conversations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SharedBudget {
    /// The shared caps.
    pub caps: SpendingCaps,
    /// What other conversations spent under the caps.
    pub spent: Spending,
    /// The period after which spending is counted anew.
    #[serde(skip_serializing_if = "BudgetPeriod::is_total")]
    pub period: BudgetPeriod,
}

/// The period over which spending is added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetPeriod {
    /// Spending is never counted anew.
    #[default]
    Total,
    /// A calendar day in UTC.
    Day,
    /// A calendar month in UTC.
    Month,
}

impl BudgetPeriod {
    fn is_total(&self) -> bool {
        *self == Self::Total
    }

    /// Returns the name of the period that a moment falls into, such as `2026-11-16`.
    #[must_use]
    pub fn label(self, at: UnixMillis) -> String {
        let moment = i64::try_from(at.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let date = moment.unwrap_or(Timestamp::MAX).to_zoned(TimeZone::UTC).date();
        match self {
            Self::Total => "total".to_owned(),
            Self::Day => date.to_string(),
            Self::Month => format!("{:04}-{:02}", date.year(), date.month()),
        }
    }
}

/// What happens when a cap is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapAction {
    /// The run ends.
    #[default]
    Stop,
    /// A human is asked whether the cap may be spent once more.
    Ask,
}

/// What happens to a dollar cap when the price of the model is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnpricedPolicy {
    /// The run does not start.
    #[default]
    Refuse,
    /// Calls count as free.
    Free,
}

/// What one model call may use under the caps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallAllowance {
    /// Output tokens that the call may use.
    pub max_tokens: u64,
    /// The cap that lowered the output tokens, if one did.
    pub lowered_by: Option<StopCause>,
}

/// A model call that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedCall {
    /// Estimated tokens of the input.
    pub input_tokens: u64,
    /// Output tokens that are requested.
    pub cap_tokens: u64,
    /// Fewest output tokens with which the call is worth making.
    pub least_tokens: u64,
}

impl ModelPrice {
    /// Returns the cost of the usage, rounded up.
    #[must_use]
    pub fn cost_of(&self, usage: &TokenUsage) -> u64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let price = self.for_prompt_tokens(usage.input_tokens.saturating_add(cached));
        let parts = [
            (usage.input_tokens, price.input_usd_micros),
            (usage.output_tokens, price.output_usd_micros),
            (usage.cache_read_tokens, price.cache_read_usd_micros),
            (usage.cache_write_tokens, price.cache_write_usd_micros),
        ];
        let costs = parts.iter().map(|(n, price)| u128::from(*n) * u128::from(*price));
        let total = costs.fold(0, u128::saturating_add);
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// Returns the prices of a call with a prompt of this length.
    fn for_prompt_tokens(&self, prompt_tokens: u64) -> Self {
        match self.above {
            Some(above) if prompt_tokens > above.input_tokens => Self {
                input_usd_micros: above.input_usd_micros,
                output_usd_micros: above.output_usd_micros,
                cache_read_usd_micros: above.cache_read_usd_micros,
                cache_write_usd_micros: above.cache_write_usd_micros,
                above: None,
            },
            Some(_) | None => *self,
        }
    }

    /// Returns the output tokens that `usd_micros` can pay for after the input is paid.
    fn affordable_output_tokens(&self, usd_micros: u64, input_tokens: u64) -> u64 {
        let input = TokenUsage { input_tokens, ..TokenUsage::default() };
        let left = u128::from(usd_micros.saturating_sub(self.cost_of(&input))) * 1_000_000;
        match u128::from(self.for_prompt_tokens(input_tokens).output_usd_micros) {
            0 => u64::MAX,
            price => u64::try_from(left / price).unwrap_or(u64::MAX),
        }
    }
}

/// Returns what a call may use under several caps, each with the spending under it.
pub fn allow_call(
    planned: PlannedCall,
    price: Option<&ModelPrice>,
    caps: &[(SpendingCaps, Spending)],
) -> Result<CallAllowance, StopCause> {
    let mut allowance = CallAllowance { max_tokens: planned.cap_tokens, lowered_by: None };
    for (cap, spent) in caps {
        if let Some(tokens) = cap.tokens {
            let remaining =
                tokens.saturating_sub(spent.tokens).saturating_sub(planned.input_tokens);
            allowance.lower_to(remaining, StopCause::BudgetTokens);
        }
        if let (Some(usd), Some(price)) = (cap.usd_micros, price) {
            let remaining = price.affordable_output_tokens(
                usd.saturating_sub(spent.usd_micros),
                planned.input_tokens,
            );
            allowance.lower_to(remaining, StopCause::BudgetUsd);
        }
    }
    match allowance.lowered_by {
        Some(cause) if allowance.max_tokens < planned.least_tokens.min(planned.cap_tokens) => {
            Err(cause)
        }
        Some(_) | None => Ok(allowance),
    }
}

impl CallAllowance {
    fn lower_to(&mut self, remaining: u64, by: StopCause) {
        if remaining < self.max_tokens {
            self.max_tokens = remaining;
            self.lowered_by = Some(by);
        }
    }
}

impl SpendingCaps {
    /// Returns the cap that the spending exceeds, if one is exceeded.
    #[must_use]
    pub fn exceeded_cap(&self, spent: &Spending) -> Option<StopCause> {
        if self.usd_micros.is_some_and(|cap| spent.usd_micros > cap) {
            return Some(StopCause::BudgetUsd);
        }
        self.tokens.is_some_and(|cap| spent.tokens > cap).then_some(StopCause::BudgetTokens)
    }

    /// Returns the share of the budget that was spent, in per cent of the tighter cap.
    #[must_use]
    pub fn spent_percent(&self, spent: &Spending) -> u64 {
        let share = |spent: u64, cap: u64| spent.saturating_mul(100) / cap.max(1);
        let tokens = self.tokens.map(|cap| share(spent.tokens, cap));
        let usd = self.usd_micros.map(|cap| share(spent.usd_micros, cap));
        tokens.into_iter().chain(usd).max().unwrap_or(0)
    }

    /// Returns what is left of these caps.
    #[must_use]
    pub fn remaining(&self, spent: &Spending) -> Self {
        Self {
            tokens: self.tokens.map(|cap| cap.saturating_sub(spent.tokens)),
            usd_micros: self.usd_micros.map(|cap| cap.saturating_sub(spent.usd_micros)),
        }
    }
}

impl Budget {
    /// Returns whether any cap is on money.
    #[must_use]
    pub fn has_money_cap(&self) -> bool {
        let caps = [self.call, self.run, self.conversation, self.profile.caps];
        caps.iter().any(|caps| caps.usd_micros.is_some())
    }
}

impl SpendingCaps {
    /// Returns the tighter of two caps, for tokens and for money.
    #[must_use]
    pub fn tighter_of(&self, other: &Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            tokens: least(self.tokens, other.tokens),
            usd_micros: least(self.usd_micros, other.usd_micros),
        }
    }

    /// Returns these caps multiplied by `times`.
    #[must_use]
    pub fn multiplied_by(&self, times: u64) -> Self {
        let more = |cap: Option<u64>| cap.map(|cap| cap.saturating_mul(times));
        Self { tokens: more(self.tokens), usd_micros: more(self.usd_micros) }
    }

    /// Returns one of `shares` equal shares of these caps.
    #[must_use]
    pub fn divided_by(&self, shares: u64) -> Self {
        let part = |cap: Option<u64>| cap.map(|cap| cap / shares.max(1));
        Self { tokens: part(self.tokens), usd_micros: part(self.usd_micros) }
    }

    /// Returns the caps as if all of them were spent.
    #[must_use]
    pub fn as_spending(&self) -> Spending {
        let (tokens, usd_micros) = (self.tokens.unwrap_or(0), self.usd_micros.unwrap_or(0));
        Spending { tokens, usd_micros }
    }
}

impl Spending {
    /// Adds other spending.
    pub fn add_spending(&mut self, other: &Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.usd_micros = self.usd_micros.saturating_add(other.usd_micros);
    }

    /// Adds the usage of a model call.
    pub fn add_usage(&mut self, usage: &TokenUsage, price: Option<&ModelPrice>) {
        self.tokens = self.tokens.saturating_add(usage.total_tokens());
        let cost = price.map_or(0, |price| price.cost_of(usage));
        self.usd_micros = self.usd_micros.saturating_add(cost);
    }
}
