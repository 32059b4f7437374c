//! What calls cost.

use serde::Deserialize;
use windlass_core::budget::{Price, PriceAbove};

/// Micro-dollars per million tokens, by cache class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
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
    /// Other prices for long prompts.
    #[serde(default)]
    pub above: Option<Step>,
}

/// Prices of a call whose prompt is longer than a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The bound.
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

/// How long written input stays in the cache, for its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Minutes.
    Minutes,
    /// An hour.
    Hour,
}

impl Prices {
    /// The price as budgets count it.
    #[must_use]
    pub fn price(&self, written: Written) -> Price {
        Price {
            input_usd_micros: self.input,
            output_usd_micros: self.output,
            cache_read_usd_micros: self.cache_read,
            cache_write_usd_micros: written.of(self.cache_write, self.cache_write_hour),
            above: self.above.map(|step| step.price(written)),
        }
    }
}

impl Step {
    fn price(&self, written: Written) -> PriceAbove {
        PriceAbove {
            input_tokens: self.input_tokens,
            input_usd_micros: self.input,
            output_usd_micros: self.output,
            cache_read_usd_micros: self.cache_read,
            cache_write_usd_micros: written.of(self.cache_write, self.cache_write_hour),
        }
    }
}

impl Written {
    fn of(self, minutes: u64, hour: u64) -> u64 {
        match self {
            Self::Minutes => minutes,
            Self::Hour => hour,
        }
    }
}
