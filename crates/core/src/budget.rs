//! Money and tokens. Before a model call its worst case is set aside: the output is lowered to what
//! the rest can pay for, and when not even the input fits no call is made. A cap is therefore passed
//! by one reserved call at most, and that only when the estimate of the input was too low.

use serde::{Deserialize, Serialize};

use crate::ids::Millis;
use crate::reply::Usage;
use crate::stop::StopCause;

/// Micro-dollars per million tokens, by cache class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is not cached.
    pub input_usd_micros: u64,
    /// Output.
    pub output_usd_micros: u64,
    /// Input read from the cache.
    pub cache_read_usd_micros: u64,
    /// Input written to the cache.
    pub cache_write_usd_micros: u64,
    /// Other prices for long prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above: Option<PriceAbove>,
}

/// The prices of a whole call whose prompt, cached or not, is longer than a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceAbove {
    /// The bound.
    pub input_tokens: u64,
    /// Input that is not cached.
    pub input_usd_micros: u64,
    /// Output.
    pub output_usd_micros: u64,
    /// Input read from the cache.
    pub cache_read_usd_micros: u64,
    /// Input written to the cache.
    pub cache_write_usd_micros: u64,
}

/// Caps; `None` means no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Caps {
    /// Tokens.
    pub tokens: Option<u64>,
    /// Micro-dollars.
    pub usd_micros: Option<u64>,
}

/// What was spent under a cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spent {
    /// Tokens.
    pub tokens: u64,
    /// Micro-dollars; what had no price counts nothing and is said elsewhere.
    pub usd_micros: u64,
}

/// The caps of a conversation, by what they are about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// One model call.
    pub call: Caps,
    /// One run.
    pub run: Caps,
    /// All runs of the conversation.
    pub conversation: Caps,
    /// All conversations of the profile, and what was spent there before this one.
    pub profile: Allowance,
    /// What happens when a cap is reached.
    pub at_cap: AtCap,
    /// What happens to a cap on money when nobody knows the model's price.
    pub unpriced: Unpriced,
}

/// Caps that others draw on too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Allowance {
    /// The caps.
    pub caps: Caps,
    /// What others spent of it.
    pub spent: Spent,
    /// After which time spending is counted anew.
    #[serde(skip_serializing_if = "Period::is_forever")]
    pub period: Period,
}

/// How long spending is added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// For ever.
    #[default]
    Total,
    /// A calendar day, in UTC.
    Day,
    /// A calendar month, in UTC.
    Month,
}

impl Period {
    fn is_forever(&self) -> bool {
        *self == Self::Total
    }

    /// The name of the period that a moment falls into, such as `2026-11-16`.
    #[must_use]
    pub fn name(self, at: Millis) -> String {
        let (year, month, day) = civil(at.0 / DAY_MS);
        match self {
            Self::Total => "total".to_owned(),
            Self::Day => format!("{year:04}-{month:02}-{day:02}"),
            Self::Month => format!("{year:04}-{month:02}"),
        }
    }
}

const DAY_MS: u64 = 86_400_000;

/// Year, month and day of a count of days since 1970 (Hinnant's `civil_from_days`): the year is
/// taken to begin in March, so that the leap day is its last.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days.saturating_add(719_468);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

/// What happens when a cap is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtCap {
    /// The run ends.
    #[default]
    Stop,
    /// A human is asked whether as much again may be spent.
    Ask,
}

/// What happens to a cap on money when nobody knows the model's price.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unpriced {
    /// The run does not begin.
    #[default]
    Refuse,
    /// Calls count nothing.
    Free,
}

/// Room for one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Room {
    /// Output tokens it may use.
    pub max_tokens: u64,
    /// Which cap lowered it, if one did.
    pub lowered_by: Option<StopCause>,
}

/// A model call about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// Tokens of its input, as estimated.
    pub input_tokens: u64,
    /// Output tokens asked for.
    pub cap_tokens: u64,
    /// Below this it is not worth making.
    pub least_tokens: u64,
}

impl Price {
    /// What the usage cost, rounded up.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> u64 {
        let cached = usage.cache_read_tokens.saturating_add(usage.cache_write_tokens);
        let price = self.at(usage.input_tokens.saturating_add(cached));
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

    /// The price of a call with so long a prompt.
    fn at(&self, prompt_tokens: u64) -> Self {
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

    /// Output tokens that `usd_micros` can pay for after the input is paid.
    fn output_for(&self, usd_micros: u64, input_tokens: u64) -> u64 {
        let input = Usage { input_tokens, ..Usage::default() };
        let left = u128::from(usd_micros.saturating_sub(self.of(&input))) * 1_000_000;
        match u128::from(self.at(input_tokens).output_usd_micros) {
            0 => u64::MAX,
            price => u64::try_from(left / price).unwrap_or(u64::MAX),
        }
    }
}

/// How much room a call has under several caps, each with what was spent under it.
pub fn room(
    planned: Planned,
    price: Option<&Price>,
    caps: &[(Caps, Spent)],
) -> Result<Room, StopCause> {
    let mut room = Room { max_tokens: planned.cap_tokens, lowered_by: None };
    for (cap, spent) in caps {
        if let Some(tokens) = cap.tokens {
            let left = tokens.saturating_sub(spent.tokens).saturating_sub(planned.input_tokens);
            room.lower(left, StopCause::BudgetTokens);
        }
        if let (Some(usd), Some(price)) = (cap.usd_micros, price) {
            let left = price.output_for(usd.saturating_sub(spent.usd_micros), planned.input_tokens);
            room.lower(left, StopCause::BudgetUsd);
        }
    }
    match room.lowered_by {
        Some(cause) if room.max_tokens < planned.least_tokens.min(planned.cap_tokens) => Err(cause),
        Some(_) | None => Ok(room),
    }
}

impl Room {
    fn lower(&mut self, left: u64, by: StopCause) {
        if left < self.max_tokens {
            self.max_tokens = left;
            self.lowered_by = Some(by);
        }
    }
}

impl Caps {
    /// Whether more was spent than the cap allows.
    #[must_use]
    pub fn is_passed(&self, spent: &Spent) -> Option<StopCause> {
        if self.usd_micros.is_some_and(|cap| spent.usd_micros > cap) {
            return Some(StopCause::BudgetUsd);
        }
        self.tokens.is_some_and(|cap| spent.tokens > cap).then_some(StopCause::BudgetTokens)
    }

    /// The share that was spent, in per cent of the tighter cap.
    #[must_use]
    pub fn spent_percent(&self, spent: &Spent) -> u64 {
        let share = |spent: u64, cap: u64| spent.saturating_mul(100) / cap.max(1);
        let tokens = self.tokens.map(|cap| share(spent.tokens, cap));
        let usd = self.usd_micros.map(|cap| share(spent.usd_micros, cap));
        tokens.into_iter().chain(usd).max().unwrap_or(0)
    }

    /// What of these caps is left for somebody who draws on them.
    #[must_use]
    pub fn rest(&self, spent: &Spent) -> Self {
        Self {
            tokens: self.tokens.map(|cap| cap.saturating_sub(spent.tokens)),
            usd_micros: self.usd_micros.map(|cap| cap.saturating_sub(spent.usd_micros)),
        }
    }
}

impl Budget {
    /// Whether any cap is on money.
    #[must_use]
    pub fn counts_money(&self) -> bool {
        let caps = [self.call, self.run, self.conversation, self.profile.caps];
        caps.iter().any(|caps| caps.usd_micros.is_some())
    }
}

impl Caps {
    /// The tighter of two, cap by cap.
    #[must_use]
    pub fn tighter(&self, other: &Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Self {
            tokens: least(self.tokens, other.tokens),
            usd_micros: least(self.usd_micros, other.usd_micros),
        }
    }

    /// As many times as much.
    #[must_use]
    pub fn times(&self, times: u64) -> Self {
        let more = |cap: Option<u64>| cap.map(|cap| cap.saturating_mul(times));
        Self { tokens: more(self.tokens), usd_micros: more(self.usd_micros) }
    }

    /// One of `shares` equal shares.
    #[must_use]
    pub fn share(&self, shares: u64) -> Self {
        let part = |cap: Option<u64>| cap.map(|cap| cap / shares.max(1));
        Self { tokens: part(self.tokens), usd_micros: part(self.usd_micros) }
    }

    /// As if all of it were spent.
    #[must_use]
    pub fn as_spent(&self) -> Spent {
        let (tokens, usd_micros) = (self.tokens.unwrap_or(0), self.usd_micros.unwrap_or(0));
        Spent { tokens, usd_micros }
    }
}

impl Spent {
    /// Adds what somebody else spent.
    pub fn plus(&mut self, other: &Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.usd_micros = self.usd_micros.saturating_add(other.usd_micros);
    }

    /// Adds a call.
    pub fn add(&mut self, usage: &Usage, price: Option<&Price>) {
        self.tokens = self.tokens.saturating_add(usage.total());
        let cost = price.map_or(0, |price| price.of(usage));
        self.usd_micros = self.usd_micros.saturating_add(cost);
    }
}
