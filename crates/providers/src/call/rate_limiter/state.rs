//! The state of a rate limit gate: concurrency limit, exponential backoff after 429 and 5xx, and a
//! FIFO queue. Time is passed in.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use super::RateGateSnapshot;
use super::headers::{RateLimitHeaders, RemainingQuota};
use crate::limits::MAX_RETRY_AFTER_MS;

/// The first backoff after a rejection without a `retry-after`; doubled with every further one.
const INITIAL_BACKOFF_MS: u64 = 1_000;

/// The longest backoff without a `retry-after`.
const MAX_BACKOFF_MS: u64 = 30_000;

/// The number of consecutive overloads without a backoff: single ones happen.
const TOLERATED_OVERLOADS: u32 = 2;

/// The answer to a call that asks for admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    /// The call must wait for this many milliseconds.
    WaitMs(u64),
    /// The call must wait until others have finished, or were admitted before it.
    AfterOthers,
}

/// The outcome of a call, as far as a gate is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    /// The call returned a reply.
    Succeeded,
    /// The provider rejected the call because of a rate limit.
    Throttled {
        /// How long the provider asked to wait.
        retry_after_ms: Option<u64>,
    },
    /// The provider is overloaded, failing or unreachable.
    Overloaded {
        /// How long the provider asked to wait.
        retry_after_ms: Option<u64>,
    },
}

#[derive(Default)]
pub(super) struct RateGateState {
    in_flight: usize,
    max_in_flight: Option<usize>,
    closed_until: u64,
    consecutive_failures: u32,
    requests: Option<RemainingQuota>,
    tokens: Option<RemainingQuota>,
    queue: VecDeque<(u64, Arc<Notify>)>,
    last_ticket: u64,
}

impl RateGateState {
    pub(super) fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Admits a call, or says when to try again.
    pub(super) fn try_admit(&mut self, tokens: u64, now: u64) -> Admission {
        let answer = self.check_admission(tokens, now);
        if answer == Admission::Admitted {
            self.in_flight += 1;
            spend_quota(&mut self.requests, 1);
            spend_quota(&mut self.tokens, tokens);
        }
        answer
    }

    fn check_admission(&self, tokens: u64, now: u64) -> Admission {
        let waits = [
            self.closed_until.saturating_sub(now),
            quota_wait_ms(self.requests, 1, now),
            quota_wait_ms(self.tokens, tokens, now),
        ];
        match waits.into_iter().max().unwrap_or_default() {
            0 if self.max_in_flight.is_some_and(|limit| self.in_flight >= limit) => {
                Admission::AfterOthers
            }
            0 => Admission::Admitted,
            ms => Admission::WaitMs(ms),
        }
    }

    /// Admits the first call in the queue, or says when to try again.
    pub(super) fn try_admit_first(&mut self, number: u64, tokens: u64, now: u64) -> Admission {
        if self.queue.front().is_none_or(|(first, _)| *first != number) {
            return Admission::AfterOthers;
        }
        self.try_admit(tokens, now)
    }

    pub(super) fn enqueue(&mut self, bell: Arc<Notify>) -> u64 {
        self.last_ticket += 1;
        self.queue.push_back((self.last_ticket, bell));
        self.last_ticket
    }

    pub(super) fn dequeue(&mut self, number: u64) {
        // Usually it is the first; numbers rise, so the others are found by binary search.
        if let Ok(at) = self.queue.binary_search_by_key(&number, |(known, _)| *known) {
            self.queue.remove(at);
        }
    }

    pub(super) fn wake_first(&self) {
        if let Some((_, bell)) = self.queue.front() {
            bell.notify_one();
        }
    }

    pub(super) fn release(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    pub(super) fn record_headers(&mut self, said: &RateLimitHeaders, now: u64) {
        self.requests = said.requests.map(|quota| quota.anchored_at(now)).or(self.requests);
        self.tokens = said.tokens.map(|quota| quota.anchored_at(now)).or(self.tokens);
    }

    pub(super) fn record_outcome(&mut self, outcome: CallOutcome, now: u64) {
        match outcome {
            CallOutcome::Succeeded => self.increase_concurrency(),
            CallOutcome::Throttled { retry_after_ms } => {
                self.decrease_concurrency();
                self.close_for(retry_after_ms.unwrap_or_else(|| self.backoff_ms()), now);
            }
            CallOutcome::Overloaded { retry_after_ms } => {
                self.decrease_concurrency();
                let tired = self.consecutive_failures > TOLERATED_OVERLOADS;
                let pause = retry_after_ms.or_else(|| tired.then(|| self.backoff_ms()));
                self.close_for(pause.unwrap_or_default(), now);
            }
        }
    }

    /// Raises the concurrency limit by one with every success, so that it doubles from round to
    /// round.
    fn increase_concurrency(&mut self) {
        self.consecutive_failures = 0;
        self.max_in_flight = self.max_in_flight.map(|limit| limit + 1);
    }

    fn decrease_concurrency(&mut self) {
        self.consecutive_failures = self.consecutive_failures.saturating_add(1);
        let under_way =
            self.max_in_flight.map_or(self.in_flight, |limit| limit.min(self.in_flight));
        self.max_in_flight = Some((under_way / 2).max(1));
    }

    fn backoff_ms(&self) -> u64 {
        let doubled =
            1_u64.checked_shl(self.consecutive_failures.saturating_sub(1)).unwrap_or(u64::MAX);
        INITIAL_BACKOFF_MS.saturating_mul(doubled).min(MAX_BACKOFF_MS)
    }

    fn close_for(&mut self, ms: u64, now: u64) {
        self.closed_until = self.closed_until.max(now.saturating_add(ms.min(MAX_RETRY_AFTER_MS)));
    }

    pub(super) fn snapshot(&self, name: Arc<str>, now: u64) -> RateGateSnapshot {
        let left = |quota: Option<RemainingQuota>| {
            quota.filter(|quota| quota.reset_ms > now).map(|remaining| remaining.remaining)
        };
        RateGateSnapshot {
            name,
            in_flight: self.in_flight,
            waiting: self.queue.len(),
            max_in_flight: self.max_in_flight,
            closed_for_ms: self.closed_until.saturating_sub(now),
            requests_remaining: left(self.requests),
            tokens_remaining: left(self.tokens),
        }
    }
}

/// How long to wait for a quota. It counts until its reset; after that moment the remaining count
/// is unknown, so no call waits longer.
fn quota_wait_ms(quota: Option<RemainingQuota>, wanted: u64, now: u64) -> u64 {
    match quota {
        Some(quota) if quota.remaining < wanted => quota.reset_ms.saturating_sub(now),
        Some(_) | None => 0,
    }
}

fn spend_quota(quota: &mut Option<RemainingQuota>, count: u64) {
    if let Some(quota) = quota {
        quota.remaining = quota.remaining.saturating_sub(count);
    }
}
