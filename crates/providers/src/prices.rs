//! What calls cost.

use serde::Deserialize;
use windlass_core::budget::Price;
use windlass_core::reply::Usage;

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
    /// The price as budgets count it. They know no step: it is the price of a usual prompt.
    #[must_use]
    pub fn price(&self, written: Written) -> Price {
        let write = match written {
            Written::Minutes => self.cache_write,
            Written::Hour => self.cache_write_hour,
        };
        Price {
            input_usd_micros: self.input,
            output_usd_micros: self.output,
            cache_read_usd_micros: self.cache_read,
            cache_write_usd_micros: write,
        }
    }

    /// What a call cost, in micro-dollars, rounded up.
    #[must_use]
    pub fn usd_micros(&self, usage: &Usage, written: Written) -> u64 {
        let prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
        let (input, output, read, write, hour) = match self.above {
            Some(step) if prompt > step.input_tokens => {
                (step.input, step.output, step.cache_read, step.cache_write, step.cache_write_hour)
            }
            Some(_) | None => {
                (self.input, self.output, self.cache_read, self.cache_write, self.cache_write_hour)
            }
        };
        let write = if written == Written::Hour { hour } else { write };
        let parts = [
            (usage.input_tokens, input),
            (usage.output_tokens, output),
            (usage.cache_read_tokens, read),
            (usage.cache_write_tokens, write),
        ];
        let total: u128 = parts.iter().map(|(n, price)| u128::from(*n) * u128::from(*price)).sum();
        u64::try_from(total.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}
