//! Token estimate of the context: the last count of the provider plus an estimate for the bytes
//! added since.

use serde::{Deserialize, Serialize};

use crate::message::reply::TokenUsage;

/// Tokens per thousand bytes before a provider has counted anything.
const DEFAULT_TOKENS_PER_1000_BYTES: u64 = 250;

/// More tokens per byte than this are an error of the provider.
const MAX_TOKENS_PER_BYTE: u64 = 2;

/// Estimates tokens from the last usage report and the bytes added since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenMeter {
    anchor_tokens: u64,
    anchor_bytes: u64,
    per_1000_bytes: u64,
}

impl Default for TokenMeter {
    fn default() -> Self {
        Self { anchor_tokens: 0, anchor_bytes: 0, per_1000_bytes: DEFAULT_TOKENS_PER_1000_BYTES }
    }
}

impl TokenMeter {
    /// Learns from a reply: the request had `sent_bytes` bytes, and the provider counted its
    /// tokens.
    pub fn learn(&mut self, sent_bytes: u64, usage: &TokenUsage) {
        let input = usage
            .input_tokens
            .saturating_add(usage.cache_read_tokens)
            .saturating_add(usage.cache_write_tokens);
        // A provider that reports more tokens than bytes is wrong.
        if input == 0 || sent_bytes == 0 || input > sent_bytes.saturating_mul(MAX_TOKENS_PER_BYTE) {
            return;
        }
        self.anchor_tokens = input;
        self.anchor_bytes = sent_bytes;
        self.per_1000_bytes = (input.saturating_mul(1_000) / sent_bytes).clamp(50, 2_000);
    }

    /// Creates a meter for a text of so many bytes that was counted without a provider.
    #[must_use]
    pub fn from_count(bytes: u64, tokens: u64) -> Self {
        let mut meter = Self::default();
        meter.learn(bytes, &TokenUsage { input_tokens: tokens, ..TokenUsage::default() });
        meter
    }

    /// Returns whether no provider has counted anything yet.
    #[must_use]
    pub fn is_uncalibrated(&self) -> bool {
        self.anchor_bytes == 0
    }

    /// Returns the estimated tokens of a request of so many bytes.
    #[must_use]
    pub fn estimate(&self, bytes: u64) -> u64 {
        let new = bytes.saturating_sub(self.anchor_bytes);
        let gone = self.anchor_bytes.saturating_sub(bytes);
        let tokens = |bytes: u64| bytes.saturating_mul(self.per_1000_bytes) / 1_000;
        self.anchor_tokens.saturating_add(tokens(new)).saturating_sub(tokens(gone))
    }
}

/// The part of the window that the history may fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UsableWindow {
    tokens: u64,
}

/// Shares of the usable window at which something happens, in per cent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowThresholds {
    /// A compaction starts above this share.
    pub compact: u64,
    /// A compaction must bring the window below this share, or the next step follows at once.
    pub gain: u64,
    /// No model call is made above this share.
    pub block: u64,
}

impl Default for WindowThresholds {
    fn default() -> Self {
        Self { compact: 70, gain: 50, block: 98 }
    }
}

/// The thresholds contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid window thresholds: need gain ({gain} %) <= compact ({compact} %) < block \
     ({block} %) <= 100 %, such as 50, 70 and 98"
)]
pub struct InvalidThresholds {
    compact: u64,
    gain: u64,
    block: u64,
}

impl WindowThresholds {
    /// Returns the thresholds if they are consistent.
    pub fn validate(self) -> Result<Self, InvalidThresholds> {
        let Self { compact, gain, block } = self;
        let fits = gain <= compact && compact < block && block <= 100;
        if fits { Ok(self) } else { Err(InvalidThresholds { compact, gain, block }) }
    }
}

/// Pressure on the window: how full it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowPressure {
    /// The window has room.
    Fine,
    /// The window is over the compaction threshold.
    Tight,
    /// The window is over the blocking threshold.
    Full,
}

impl UsableWindow {
    /// Returns a window less the output it must hold and a margin for estimates that are too low.
    /// However much output is requested, half of the window is left for the history.
    #[must_use]
    pub fn new(window_tokens: u64, output_tokens: u64) -> Self {
        let margin = window_tokens / 50;
        let output = output_tokens.min(window_tokens / 2);
        Self { tokens: window_tokens.saturating_sub(output).saturating_sub(margin) }
    }

    /// Returns how many tokens the window holds.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Returns how full the window is with `tokens` in it.
    #[must_use]
    pub fn pressure(&self, tokens: u64, thresholds: &WindowThresholds) -> WindowPressure {
        match self.percent(tokens) {
            share if share > thresholds.block => WindowPressure::Full,
            share if share > thresholds.compact => WindowPressure::Tight,
            _ => WindowPressure::Fine,
        }
    }

    /// Returns the share that `tokens` fill, in per cent. A window of zero tokens is always full.
    #[must_use]
    pub fn percent(&self, tokens: u64) -> u64 {
        match self.tokens {
            0 => u64::MAX,
            usable => tokens.saturating_mul(100) / usable,
        }
    }
}
