//! How model calls use the prompt cache of the provider, and what broke it when it was missed.

use schemars::JsonSchema;
use serde::Serialize;
use windlass_core::budget::spending::ModelPrice;
use windlass_core::log::ids::UnixMillis;
use windlass_core::message::reply::TokenUsage;
use windlass_core::settings::conversation_settings::CacheLifetime;

/// Tokens by which a hit may be shorter than what was cached: providers cache whole blocks.
const SLACK_TOKENS: u64 = 1_024;

/// What one model call used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelCallUse {
    /// The number of the call in its conversation.
    pub model_call: u32,
    /// When its reply was complete, in milliseconds since 1970.
    pub at_ms: u64,
    /// The model.
    pub model: String,
    /// Input tokens that did not come from the cache and were not written to it.
    pub input_tokens: u64,
    /// Input tokens that came from the cache.
    pub cache_read_tokens: u64,
    /// Input tokens that were written to the cache.
    pub cache_write_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// What the call cost, in millionths of a US dollar; absent without a known price.
    pub usd_micros: Option<u64>,
    /// The cached beginning that the call did not find, if any.
    pub cache_miss: Option<CacheMiss>,
    /// The entry with the reply.
    pub entry: u64,
}

/// A cached beginning of the prompt that a call had to send again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CacheMiss {
    /// What broke the cache.
    pub cause: CacheBreak,
    /// Tokens that were in the cache and were not read from it.
    pub tokens: u64,
    /// What that cost beyond a hit, in millionths of a US dollar; absent without a known price.
    pub extra_usd_micros: Option<u64>,
}

/// What breaks the prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheBreak {
    /// Another model was called: caches belong to one model.
    ModelSwitch,
    /// The system prompt changed.
    SystemPrompt,
    /// The offered tools changed.
    ChangedTools,
    /// Old messages were shortened or replaced.
    Compaction,
    /// The messages were replaced, or the conversation was forked.
    History,
    /// The pause between the calls was longer than the cache is kept.
    Expiry,
    /// Nothing on this side explains it: the provider dropped the cached prompt.
    Provider,
}

/// A call as the cache sees it.
pub(super) struct CachedCall {
    pub(super) at: UnixMillis,
    pub(super) model: String,
    pub(super) usage: TokenUsage,
}

/// What happened between two calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ChangesBetweenCalls {
    pub(super) is_compacted: bool,
    pub(super) is_history_replaced: bool,
    pub(super) has_other_system: bool,
    pub(super) has_other_tools: bool,
}

/// Compares a call with the one before it in the conversation; `None` if it hit the cache, or
/// nothing was cached.
pub(super) fn find_miss(
    before: &CachedCall,
    call: &CachedCall,
    changes: ChangesBetweenCalls,
    lifetime: Option<CacheLifetime>,
    price: Option<&ModelPrice>,
) -> Option<CacheMiss> {
    let cached = before.usage.cache_read_tokens.saturating_add(before.usage.cache_write_tokens);
    let read = call.usage.cache_read_tokens;
    let tokens = cached.saturating_sub(read);
    if tokens <= SLACK_TOKENS.min(cached / 2) {
        return None;
    }
    let pause = call.at.ms_since(before.at);
    let cause = match changes {
        _ if before.model != call.model => CacheBreak::ModelSwitch,
        ChangesBetweenCalls { has_other_system: true, .. } => CacheBreak::SystemPrompt,
        ChangesBetweenCalls { has_other_tools: true, .. } => CacheBreak::ChangedTools,
        ChangesBetweenCalls { is_compacted: true, .. } => CacheBreak::Compaction,
        ChangesBetweenCalls { is_history_replaced: true, .. } => CacheBreak::History,
        _ if pause >= lifetime_ms(lifetime) => CacheBreak::Expiry,
        _ => CacheBreak::Provider,
    };
    let extra_usd_micros = price.map(|price| extra_cost(price, &call.usage, tokens));
    Some(CacheMiss { cause, tokens, extra_usd_micros })
}

/// How long providers keep a cached prompt.
fn lifetime_ms(lifetime: Option<CacheLifetime>) -> u64 {
    match lifetime {
        Some(CacheLifetime::OneHour) => 3_600_000,
        Some(CacheLifetime::FiveMinutes | CacheLifetime::Off) | None => 300_000,
    }
}

/// What tokens cost beyond the price of reading them from the cache.
fn extra_cost(price: &ModelPrice, usage: &TokenUsage, tokens: u64) -> u64 {
    let paid = match usage.cache_write_tokens {
        0 => price.input_usd_micros,
        _ => price.cache_write_usd_micros,
    };
    tokens.saturating_mul(paid.saturating_sub(price.cache_read_usd_micros)) / 1_000_000
}
