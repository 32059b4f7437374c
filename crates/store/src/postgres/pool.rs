//! Connections for everything but appends and beats. A few of our own serve better than a general
//! pool: one that was left in the middle of something must be closed and never lent again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio::time::timeout;
use windlass_runtime::ports::{StoreError, Task};

use super::home::Home;
use super::link::Link;
use super::pause::Pauses;
use super::trouble::{Trouble, unreachable};

/// How often work is asked again that others were in the way of.
pub(super) const AGAIN: u32 = 20;

pub(super) struct Pool {
    home: Arc<Home>,
    turns: Semaphore,
    idle: Mutex<Vec<Link>>,
}

/// Whether an earlier try may have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    No,
    Yes,
}

/// A connection and what came of the work done on it. Dropped halfway, both go.
pub(super) type Done<T> = (Link, Result<T, Trouble>);

impl Pool {
    pub(super) fn new(home: Arc<Home>) -> Self {
        Self { turns: Semaphore::new(home.address.connections), home, idle: Mutex::default() }
    }

    /// Does work that may be done twice, until it is answered or patience ends.
    pub(super) async fn run<'w, T>(
        &self,
        work: impl Fn(Link, Doubt) -> Task<'w, Done<T>>,
    ) -> Result<T, StoreError> {
        let gone = |reason: String| unreachable(self.home.place(), reason).into_error();
        let _turn = self.turns.acquire().await.map_err(|closed| gone(closed.to_string()))?;
        let mut last = gone("it was never tried".to_owned());
        let patience = self.home.settings.patience;
        match timeout(patience, self.until_answered(work, &mut last)).await {
            Ok(answer) => answer,
            Err(_) => Err(last),
        }
    }

    async fn until_answered<'w, T>(
        &self,
        work: impl Fn(Link, Doubt) -> Task<'w, Done<T>>,
        last: &mut StoreError,
    ) -> Result<T, StoreError> {
        let mut pauses = Pauses::new();
        let mut doubt = Doubt::No;
        let mut again = 0;
        loop {
            let trouble = match self.lend().await {
                Ok(link) => {
                    let (link, outcome) = work(link, doubt).await;
                    match self.take_back(link, outcome) {
                        Ok(answer) => return Ok(answer),
                        Err(trouble) => trouble,
                    }
                }
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::Lost(error) => {
                    doubt = Doubt::Yes;
                    *last = error;
                }
                Trouble::Again(error) if again < AGAIN => *last = error,
                other => return Err(other.into_error()),
            }
            again += 1;
            pauses.wait().await;
        }
    }

    async fn lend(&self) -> Result<Link, Trouble> {
        let kept = self.idle().pop().filter(|link| !link.is_closed());
        match kept {
            Some(link) => Ok(link),
            None => Link::connect(&self.home).await,
        }
    }

    /// Keeps the connection, unless its state is not known.
    fn take_back<T>(&self, link: Link, outcome: Result<T, Trouble>) -> Result<T, Trouble> {
        if matches!(outcome, Err(Trouble::Lost(_))) {
            // The others were cut by the same knife.
            self.idle().clear();
        } else {
            self.idle().push(link);
        }
        outcome
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Link>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
