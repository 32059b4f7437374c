//! Token prices.

use serde::Deserialize;
use windlass_core::budget::spending::{LongPromptPrice, ModelPrice};

/// Prices in micro-dollars per million tokens, by cache class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenPrices {
    /// Input that is not cached.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache for minutes.
    pub cache_write: u64,
    /// Input written to the cache for an hour.
    pub cache_write_hour: u64,
    /// Different prices for long prompts.
    #[serde(default)]
    pub above: Option<LongPromptPrices>,
}

/// Prices of a call whose prompt is longer than a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPromptPrices {
    /// The number of input tokens above which these prices apply.
    pub input_tokens: u64,
    /// Input that is not cached.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache for minutes.
    pub cache_write: u64,
    /// Input written to the cache for an hour.
    pub cache_write_hour: u64,
}

/// How long written input stays in the cache, which determines its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheWriteLifetime {
    /// The input stays in the cache for minutes.
    Minutes,
    /// The input stays in the cache for an hour.
    Hour,
}

impl TokenPrices {
    /// Returns the price in the form that budgets use.
    #[must_use]
    pub fn to_price(&self, written: CacheWriteLifetime) -> ModelPrice {
        ModelPrice {
            input_usd_micros: self.input,
            output_usd_micros: self.output,
            cache_read_usd_micros: self.cache_read,
            cache_write_usd_micros: written.select(self.cache_write, self.cache_write_hour),
            above: self.above.map(|step| step.to_price_above(written)),
        }
    }
}

impl LongPromptPrices {
    fn to_price_above(self, written: CacheWriteLifetime) -> LongPromptPrice {
        LongPromptPrice {
            input_tokens: self.input_tokens,
            input_usd_micros: self.input,
            output_usd_micros: self.output,
            cache_read_usd_micros: self.cache_read,
            cache_write_usd_micros: written.select(self.cache_write, self.cache_write_hour),
        }
    }
}

impl CacheWriteLifetime {
    fn select(self, minutes: u64, hour: u64) -> u64 {
        match self {
            Self::Minutes => minutes,
            Self::Hour => hour,
        }
    }
}
