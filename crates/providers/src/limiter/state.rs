//! What a gate knows, and whom it lets through. Time is given from outside.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use super::GateView;
use super::headers::{Left, Said};
use crate::limits::BELIEVED_WAIT_MS;

/// How long the gate stays closed after a refusal that does not say, doubled with every further
/// one.
const FIRST_PAUSE_MS: u64 = 1_000;

/// The longest it stays closed without being told.
const LONGEST_PAUSE_MS: u64 = 30_000;

/// Overloads in a row that pass without closing the gate: single ones happen.
const FREE_OVERLOADS: u32 = 2;

/// What is answered to a call that wants to enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Enter,
    /// Not before so many milliseconds.
    In(u64),
    /// When others have left, or come before it.
    AfterOthers,
}

/// How a call went, as far as a gate cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It was answered.
    Answered,
    /// The provider said: too many.
    Throttled {
        /// How long it asked us to wait.
        retry_after_ms: Option<u64>,
    },
    /// The provider is overloaded, broken or away.
    Overloaded {
        /// How long it asked us to wait.
        retry_after_ms: Option<u64>,
    },
}

#[derive(Default)]
pub(super) struct State {
    in_flight: usize,
    most_in_flight: Option<usize>,
    closed_until: u64,
    setbacks: u32,
    requests: Option<Left>,
    tokens: Option<Left>,
    line: VecDeque<(u64, Arc<Notify>)>,
    numbers: u64,
}

impl State {
    pub(super) fn waiting(&self) -> usize {
        self.line.len()
    }

    /// Lets a call through, or says when.
    pub(super) fn admit(&mut self, tokens: u64, now: u64) -> Answer {
        let answer = self.judge(tokens, now);
        if answer == Answer::Enter {
            self.in_flight += 1;
            spend(&mut self.requests, 1);
            spend(&mut self.tokens, tokens);
        }
        answer
    }

    fn judge(&self, tokens: u64, now: u64) -> Answer {
        let waits = [
            self.closed_until.saturating_sub(now),
            wait_for(self.requests, 1, now),
            wait_for(self.tokens, tokens, now),
        ];
        match waits.into_iter().max().unwrap_or_default() {
            0 if self.most_in_flight.is_some_and(|most| self.in_flight >= most) => {
                Answer::AfterOthers
            }
            0 => Answer::Enter,
            ms => Answer::In(ms),
        }
    }

    /// Lets the first in line through.
    pub(super) fn admit_first(&mut self, number: u64, tokens: u64, now: u64) -> Answer {
        if self.line.front().is_none_or(|(first, _)| *first != number) {
            return Answer::AfterOthers;
        }
        self.admit(tokens, now)
    }

    pub(super) fn line_up(&mut self, bell: Arc<Notify>) -> u64 {
        self.numbers += 1;
        self.line.push_back((self.numbers, bell));
        self.numbers
    }

    pub(super) fn step_out(&mut self, number: u64) {
        // Mostly it is the first; numbers rise, so the others are found quickly as well.
        if let Ok(at) = self.line.binary_search_by_key(&number, |(known, _)| *known) {
            self.line.remove(at);
        }
    }

    pub(super) fn wake_first(&self) {
        if let Some((_, bell)) = self.line.front() {
            bell.notify_one();
        }
    }

    pub(super) fn leave(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    pub(super) fn heard(&mut self, said: &Said, now: u64) {
        self.requests = said.requests.map(|left| left.from(now)).or(self.requests);
        self.tokens = said.tokens.map(|left| left.from(now)).or(self.tokens);
    }

    pub(super) fn outcome(&mut self, outcome: Outcome, now: u64) {
        match outcome {
            Outcome::Answered => self.recover(),
            Outcome::Throttled { retry_after_ms } => {
                self.set_back();
                self.close(retry_after_ms.unwrap_or_else(|| self.pause()), now);
            }
            Outcome::Overloaded { retry_after_ms } => {
                self.set_back();
                let tired = self.setbacks > FREE_OVERLOADS;
                let pause = retry_after_ms.or_else(|| tired.then(|| self.pause()));
                self.close(pause.unwrap_or_default(), now);
            }
        }
    }

    /// One more may be under way with every success, so the number doubles from round to round.
    fn recover(&mut self) {
        self.setbacks = 0;
        self.most_in_flight = self.most_in_flight.map(|most| most + 1);
    }

    fn set_back(&mut self) {
        self.setbacks = self.setbacks.saturating_add(1);
        let under_way = self.most_in_flight.map_or(self.in_flight, |most| most.min(self.in_flight));
        self.most_in_flight = Some((under_way / 2).max(1));
    }

    fn pause(&self) -> u64 {
        let doubled = 1_u64.checked_shl(self.setbacks.saturating_sub(1)).unwrap_or(u64::MAX);
        FIRST_PAUSE_MS.saturating_mul(doubled).min(LONGEST_PAUSE_MS)
    }

    fn close(&mut self, ms: u64, now: u64) {
        self.closed_until = self.closed_until.max(now.saturating_add(ms.min(BELIEVED_WAIT_MS)));
    }

    pub(super) fn view(&self, name: Arc<str>, now: u64) -> GateView {
        let left = |left: Option<Left>| left.filter(|left| left.reset > now).map(|left| left.count);
        GateView {
            name,
            in_flight: self.in_flight,
            waiting: self.line.len(),
            most_in_flight: self.most_in_flight,
            closed_for_ms: self.closed_until.saturating_sub(now),
            requests_left: left(self.requests),
            tokens_left: left(self.tokens),
        }
    }
}

/// What is left counts until it is filled up again; nobody waits for more than is ever there,
/// because after that moment the count is no longer known.
fn wait_for(left: Option<Left>, wanted: u64, now: u64) -> u64 {
    match left {
        Some(left) if left.count < wanted => left.reset.saturating_sub(now),
        Some(_) | None => 0,
    }
}

fn spend(left: &mut Option<Left>, count: u64) {
    if let Some(left) = left {
        left.count = left.count.saturating_sub(count);
    }
}
