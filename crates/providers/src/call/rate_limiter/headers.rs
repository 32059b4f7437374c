//! Rate limit headers of Anthropic and OpenAI, which come with every response.

use http::{HeaderMap, HeaderName};
use windlass_core::log::ids::UnixMillis;

use crate::error::retry_after::parse_rfc3339;
use crate::limits::MAX_RETRY_AFTER_MS;

const fn header_name(name: &'static str) -> HeaderName {
    HeaderName::from_static(name)
}

/// The headers for remaining requests and their reset: Anthropic's, and those of OpenAI and
/// compatible servers.
static REQUEST_LIMIT_HEADERS: [(HeaderName, HeaderName); 2] = [
    (
        header_name("anthropic-ratelimit-requests-remaining"),
        header_name("anthropic-ratelimit-requests-reset"),
    ),
    (header_name("x-ratelimit-remaining-requests"), header_name("x-ratelimit-reset-requests")),
];

/// The headers for remaining input tokens and their reset.
static TOKEN_LIMIT_HEADERS: [(HeaderName, HeaderName); 2] = [
    (
        header_name("anthropic-ratelimit-input-tokens-remaining"),
        header_name("anthropic-ratelimit-input-tokens-reset"),
    ),
    (header_name("x-ratelimit-remaining-tokens"), header_name("x-ratelimit-reset-tokens")),
];

/// What is left of a limit, and when it is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RemainingQuota {
    pub(super) remaining: u64,
    /// Milliseconds from now when parsed; later a time of the gate's own clock.
    pub(super) reset_ms: u64,
}

impl RemainingQuota {
    pub(super) fn anchored_at(self, now: u64) -> Self {
        Self { remaining: self.remaining, reset_ms: now.saturating_add(self.reset_ms) }
    }
}

/// The limits that a response reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RateLimitHeaders {
    pub(super) requests: Option<RemainingQuota>,
    pub(super) tokens: Option<RemainingQuota>,
}

impl RateLimitHeaders {
    /// Parses the headers of Anthropic, and of OpenAI and compatible servers.
    pub(crate) fn parse(headers: &HeaderMap, now: UnixMillis) -> Self {
        let pair = |remaining: &HeaderName, reset: &HeaderName| {
            let count = header_text(headers, remaining)?.parse().ok()?;
            let reset_ms =
                parse_reset_ms(header_text(headers, reset)?, now)?.min(MAX_RETRY_AFTER_MS);
            Some(RemainingQuota { remaining: count, reset_ms })
        };
        let either = |names: &[(HeaderName, HeaderName)]| {
            names.iter().find_map(|(remaining, reset)| pair(remaining, reset))
        };
        let (requests, tokens) = (either(&REQUEST_LIMIT_HEADERS), either(&TOKEN_LIMIT_HEADERS));
        Self { requests, tokens }
    }
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Parses a time (`2026-11-15T09:00:00Z`) or a span (`1m30s`, `250ms`, `2`).
pub(super) fn parse_reset_ms(text: &str, now: UnixMillis) -> Option<u64> {
    parse_rfc3339(text).map(|moment| moment.ms_since(now)).or_else(|| parse_span_ms(text))
}

/// Parses `6m0s`, `1.5s`, `20ms`, or plain seconds.
fn parse_span_ms(text: &str) -> Option<u64> {
    let mut total = 0.0_f64;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(end)?;
        let number: f64 = number.parse().ok()?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(end)?;
        total += number * unit_ms(unit)?;
        rest = after;
    }
    // Converting a float to an integer saturates.
    Some(total as u64)
}

fn unit_ms(unit: &str) -> Option<f64> {
    match unit {
        "ms" => Some(1.0),
        "" | "s" => Some(1_000.0),
        "m" => Some(60_000.0),
        "h" => Some(3_600_000.0),
        "d" => Some(86_400_000.0),
        _ => None,
    }
}
