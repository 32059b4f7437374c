//! Finds out who presents a token, and limits how often.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use windlass::ports::Store;

use crate::AccessToken;
use crate::caller::Caller;
use crate::problem::{Problem, ProblemCode};
use crate::time::now;
use crate::token::hash_token;
use crate::token_registry;

#[cfg(test)]
#[path = "authenticator_tests.rs"]
mod authenticator_tests;

/// How long a token that was found valid is not looked up again. A token that was revoked is
/// accepted for as long.
const REMEMBERED_FOR: Duration = Duration::from_secs(1);

/// Tokens that are remembered at most.
const MAX_REMEMBERED: usize = 1_024;

/// Tokens whose rate is counted at most.
const MAX_COUNTED: usize = 4_096;

/// Refused attempts per second that are answered as such.
const FAILURES_PER_SECOND: f64 = 100.0;

/// Finds out who presents a token.
#[derive(Debug)]
pub(crate) struct Authenticator {
    operator: AccessToken,
    requests_per_second: f64,
    known: Mutex<HashMap<String, (Caller, Instant)>>,
    rates: Mutex<HashMap<Arc<str>, TokenBucket>>,
    failures: Mutex<TokenBucket>,
}

/// A rate limit: a bucket that fills with time, and from which each event takes one.
#[derive(Debug, Clone, Copy)]
struct TokenBucket {
    level: f64,
    seen: Instant,
}

impl TokenBucket {
    /// A full bucket.
    fn new(per_second: f64) -> Self {
        Self { level: per_second, seen: Instant::now() }
    }

    /// Takes one; returns whether there was one. The bucket holds what comes in one second.
    fn take(&mut self, per_second: f64, at: Instant) -> bool {
        let gained = at.saturating_duration_since(self.seen).as_secs_f64() * per_second;
        self.level = (self.level + gained).min(per_second.max(1.0));
        self.seen = at;
        let is_enough = self.level >= 1.0;
        if is_enough {
            self.level -= 1.0;
        }
        is_enough
    }
}

impl Authenticator {
    pub(crate) fn new(operator: AccessToken, requests_per_second: u32) -> Self {
        Self {
            operator,
            requests_per_second: f64::from(requests_per_second),
            known: Mutex::default(),
            rates: Mutex::default(),
            failures: Mutex::new(TokenBucket::new(FAILURES_PER_SECOND)),
        }
    }

    /// Returns who presents this token.
    pub(crate) async fn authenticate(
        &self,
        store: &dyn Store,
        presented: &str,
    ) -> Result<Caller, Problem> {
        let caller = self.find_caller(store, presented).await?;
        self.check_rate(&caller)?;
        Ok(caller)
    }

    async fn find_caller(&self, store: &dyn Store, presented: &str) -> Result<Caller, Problem> {
        if self.operator.matches(presented) {
            return Ok(Caller::operator());
        }
        let hash = hash_token(presented);
        if let Some(known) = self.remembered(&hash) {
            return Ok(known);
        }
        match token_registry::find_caller(store, presented, now()).await? {
            Some(caller) => {
                self.remember(hash, caller.clone());
                Ok(caller)
            }
            None => Err(self.refusal("the token is not valid; ask for a new one")),
        }
    }

    /// The problem of a request without a valid token.
    pub(crate) fn refusal(&self, detail: &str) -> Problem {
        let mut failures = lock(&self.failures);
        match failures.take(FAILURES_PER_SECOND, Instant::now()) {
            true => Problem::new(ProblemCode::Unauthorized, detail),
            false => Problem::new(
                ProblemCode::RateLimited,
                "too many requests without a valid token; wait a second",
            ),
        }
    }

    fn remembered(&self, hash: &str) -> Option<Caller> {
        let known = lock(&self.known);
        let (caller, until) = known.get(hash)?;
        (Instant::now() < *until).then(|| caller.clone())
    }

    fn remember(&self, hash: String, caller: Caller) {
        let mut known = lock(&self.known);
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(hash, (caller, Instant::now() + REMEMBERED_FOR));
    }

    /// Looks every token up again.
    pub(crate) fn forget_all(&self) {
        lock(&self.known).clear();
    }

    fn check_rate(&self, caller: &Caller) -> Result<(), Problem> {
        let mut rates = lock(&self.rates);
        if rates.len() >= MAX_COUNTED && !rates.contains_key(&caller.token_id) {
            rates.clear();
        }
        let bucket = rates
            .entry(caller.token_id.clone())
            .or_insert_with(|| TokenBucket::new(self.requests_per_second));
        match bucket.take(self.requests_per_second, Instant::now()) {
            true => Ok(()),
            false => Err(Problem::new(
                ProblemCode::RateLimited,
                format!(
                    "this token sends more than {} requests per second; wait a second",
                    self.requests_per_second
                ),
            )),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
