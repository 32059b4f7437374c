//! How full the window is: the last real count plus an estimate of what came since.

use serde::{Deserialize, Serialize};

use crate::reply::Usage;

/// Tokens per thousand bytes before anything was learned.
const COLD_TOKENS_PER_1000_BYTES: u64 = 250;

/// A count beyond this is a mistake of the provider.
const MOST_TOKENS_PER_BYTE: u64 = 2;

/// Counts tokens from real usage and the bytes that came since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Meter {
    anchor_tokens: u64,
    anchor_bytes: u64,
    per_1000_bytes: u64,
}

impl Default for Meter {
    fn default() -> Self {
        Self { anchor_tokens: 0, anchor_bytes: 0, per_1000_bytes: COLD_TOKENS_PER_1000_BYTES }
    }
}

impl Meter {
    /// Learns from a reply: what was sent, in bytes, counted so many tokens.
    pub fn learn(&mut self, sent_bytes: u64, usage: &Usage) {
        let input = usage
            .input_tokens
            .saturating_add(usage.cache_read_tokens)
            .saturating_add(usage.cache_write_tokens);
        // No model makes more tokens of a text than it has bytes; whoever says so is not believed.
        if input == 0 || sent_bytes == 0 || input > sent_bytes.saturating_mul(MOST_TOKENS_PER_BYTE)
        {
            return;
        }
        self.anchor_tokens = input;
        self.anchor_bytes = sent_bytes;
        self.per_1000_bytes = (input.saturating_mul(1_000) / sent_bytes).clamp(50, 2_000);
    }

    /// A meter for a text of so many bytes that was counted otherwise than by a provider.
    #[must_use]
    pub fn counted(bytes: u64, tokens: u64) -> Self {
        let mut meter = Self::default();
        meter.learn(bytes, &Usage { input_tokens: tokens, ..Usage::default() });
        meter
    }

    /// Whether no provider has counted anything yet.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.anchor_bytes == 0
    }

    /// Tokens of a request of so many bytes.
    #[must_use]
    pub fn estimate(&self, bytes: u64) -> u64 {
        let new = bytes.saturating_sub(self.anchor_bytes);
        let gone = self.anchor_bytes.saturating_sub(bytes);
        let tokens = |bytes: u64| bytes.saturating_mul(self.per_1000_bytes) / 1_000;
        self.anchor_tokens.saturating_add(tokens(new)).saturating_sub(tokens(gone))
    }
}

/// The part of the window that history may fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Usable {
    tokens: u64,
}

/// Shares of the usable window at which something happens, in per cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Compaction begins.
    pub compact: u64,
    /// A compaction must bring it below this, or the next rung follows at once.
    pub gain: u64,
    /// No call is made.
    pub block: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { compact: 70, gain: 50, block: 98 }
    }
}

/// Shares that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "compaction at {compact} % must come before calls are blocked at {block} %, and must bring the \
     window below {gain} %, which must not be more than where it begins; give shares such as 70, 50 \
     and 98"
)]
pub struct BadThresholds {
    compact: u64,
    gain: u64,
    block: u64,
}

impl Thresholds {
    /// The same, if they make sense together.
    pub fn checked(self) -> Result<Self, BadThresholds> {
        let Self { compact, gain, block } = self;
        let fits = gain <= compact && compact < block && block <= 100;
        if fits { Ok(self) } else { Err(BadThresholds { compact, gain, block }) }
    }
}

/// How full the window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pressure {
    /// There is room.
    Fine,
    /// Over the compaction threshold.
    Tight,
    /// Over the blocking threshold.
    Full,
}

impl Usable {
    /// A window less the output it must hold and a margin for estimates that are too low. However
    /// much output is asked for, half of the window is left for what was said.
    #[must_use]
    pub fn of(window_tokens: u64, output_tokens: u64) -> Self {
        let margin = window_tokens / 50;
        let output = output_tokens.min(window_tokens / 2);
        Self { tokens: window_tokens.saturating_sub(output).saturating_sub(margin) }
    }

    /// How many tokens it holds.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// How full it is with `tokens` in it.
    #[must_use]
    pub fn pressure(&self, tokens: u64, thresholds: &Thresholds) -> Pressure {
        match self.percent(tokens) {
            share if share > thresholds.block => Pressure::Full,
            share if share > thresholds.compact => Pressure::Tight,
            _ => Pressure::Fine,
        }
    }

    /// The share that `tokens` fill, in per cent. A window of nothing is always full.
    #[must_use]
    pub fn percent(&self, tokens: u64) -> u64 {
        match self.tokens {
            0 => u64::MAX,
            usable => tokens.saturating_mul(100) / usable,
        }
    }
}
