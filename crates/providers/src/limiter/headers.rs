//! What providers say about their limits in the headers of every answer.

use http::{HeaderMap, HeaderName};
use windlass_core::ids::Millis;

use crate::limits::BELIEVED_WAIT_MS;
use crate::rfc3339;

const fn name(name: &'static str) -> HeaderName {
    HeaderName::from_static(name)
}

/// How many requests are left, and until when: Anthropic's words, and those of OpenAI and its kin.
static REQUESTS: [(HeaderName, HeaderName); 2] = [
    (name("anthropic-ratelimit-requests-remaining"), name("anthropic-ratelimit-requests-reset")),
    (name("x-ratelimit-remaining-requests"), name("x-ratelimit-reset-requests")),
];

/// How many input tokens are left, and until when.
static TOKENS: [(HeaderName, HeaderName); 2] = [
    (
        name("anthropic-ratelimit-input-tokens-remaining"),
        name("anthropic-ratelimit-input-tokens-reset"),
    ),
    (name("x-ratelimit-remaining-tokens"), name("x-ratelimit-reset-tokens")),
];

/// What is left of a limit, and when it is filled up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    pub(super) count: u64,
    /// Milliseconds from now; later, on the gate's own clock.
    pub(super) reset: u64,
}

impl Left {
    pub(super) fn from(self, now: u64) -> Self {
        Self { count: self.count, reset: now.saturating_add(self.reset) }
    }
}

/// What an answer said about limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(super) requests: Option<Left>,
    pub(super) tokens: Option<Left>,
}

impl Said {
    /// Reads the headers of Anthropic and of OpenAI and its kin.
    pub(crate) fn read(headers: &HeaderMap, now: Millis) -> Self {
        let pair = |remaining: &HeaderName, reset: &HeaderName| {
            let count = text(headers, remaining)?.parse().ok()?;
            let reset = until(text(headers, reset)?, now)?.min(BELIEVED_WAIT_MS);
            Some(Left { count, reset })
        };
        let either = |names: &[(HeaderName, HeaderName)]| {
            names.iter().find_map(|(remaining, reset)| pair(remaining, reset))
        };
        let (requests, tokens) = (either(&REQUESTS), either(&TOKENS));
        Self { requests, tokens }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A moment (`2026-11-15T09:00:00Z`) or a span (`1m30s`, `250ms`, `2`).
pub(super) fn until(text: &str, now: Millis) -> Option<u64> {
    rfc3339::moment(text).map(|moment| moment.since(now)).or_else(|| span_ms(text))
}

/// `6m0s`, `1.5s`, `20ms`, or plain seconds.
fn span_ms(text: &str) -> Option<u64> {
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
    // A float turned into a whole number saturates.
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
