//! A store that does not answer: whoever runs the worker hears when that begins, and when it is over.

use crate::ports::StoreError;

/// A store that takes longer is away, whatever it is doing.
pub(super) const LATE_MS: u64 = 3_000;

/// What a worker says about its store.
#[derive(Debug, Clone, Copy)]
pub enum StoreNews<'a> {
    /// It takes long to answer.
    Late,
    /// It answered that it cannot.
    Fails(&'a StoreError),
    /// It answers again.
    Answers,
}

/// Whoever hears it.
pub type Tell<'a> = &'a (dyn Fn(StoreNews<'_>) + Send + Sync);

/// Tells each change once.
pub(super) struct Outage<'a> {
    tell: Tell<'a>,
    is_away: bool,
}

impl<'a> Outage<'a> {
    pub(super) fn told_to(tell: Tell<'a>) -> Self {
        Self { tell, is_away: false }
    }

    pub(super) fn late(&mut self) {
        self.becomes(true, StoreNews::Late);
    }

    pub(super) fn answered<T>(&mut self, answer: &Result<T, StoreError>) {
        match answer {
            Ok(_) => self.becomes(false, StoreNews::Answers),
            Err(error) => self.becomes(true, StoreNews::Fails(error)),
        }
    }

    fn becomes(&mut self, is_away: bool, news: StoreNews<'_>) {
        if self.is_away != is_away {
            self.is_away = is_away;
            (self.tell)(news);
        }
    }
}
