//! Where appends are written: together if they can be, alone if they must be, and again after the
//! connection was lost, once it is known which of them landed.

use std::sync::Arc;

use tokio::time::timeout;
use windlass_runtime::ports::StoreError;

use super::alone;
use super::batch::{self, Guard, Landed};
use super::home::Home;
use super::link::Link;
use super::notices::Notices;
use super::pause::Pauses;
use super::pool::{AGAIN, Doubt};
use super::prepare::Prepared;
use super::settle;
use super::trouble::{Trouble, unreachable};
use super::writer::Job;
use crate::fault;

pub(super) struct Desk {
    home: Arc<Home>,
    link: Option<Link>,
    notices: Arc<Notices>,
}

/// How appends are to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Together,
    Alone,
}

/// Appends that are not answered yet, and what to say if they never are.
struct Open {
    jobs: Vec<Job>,
    last: StoreError,
}

impl Desk {
    pub(super) fn new(home: Arc<Home>, link: Link, notices: Arc<Notices>) -> Self {
        Self { home, link: Some(link), notices }
    }

    /// Answers every job. They are of different lanes.
    pub(super) async fn write(&mut self, jobs: Vec<Job>) {
        jobs.iter().for_each(|_| fault::point(fault::APPEND_BEFORE_COMMIT));
        let (together, alone): (Vec<Job>, Vec<Job>) =
            jobs.into_iter().partition(|job| job.prepared.letters.is_empty());
        let refused = self.patiently(together, Way::Together).await;
        for job in refused.into_iter().chain(alone) {
            self.patiently(vec![job], Way::Alone).await;
        }
    }

    /// Writes until all are answered or patience ends. Gives back those of a batch that one of them
    /// spoiled: alone, each learns its own fate.
    async fn patiently(&mut self, jobs: Vec<Job>, way: Way) -> Vec<Job> {
        if jobs.is_empty() {
            return jobs;
        }
        let never = unreachable(self.home.place(), "it was never tried".to_owned()).into_error();
        let mut open = Open { jobs, last: never };
        let patience = self.home.settings.patience;
        if let Ok(spoiled) = timeout(patience, self.until_answered(&mut open, way)).await {
            return spoiled;
        }
        // What is under way on this connection nobody will hear of.
        self.link = None;
        for job in open.jobs {
            let error = match job.doubt {
                Doubt::No => open.last.clone(),
                Doubt::Yes => self.unsure(&open.last),
            };
            job.answer(Err(error));
        }
        Vec::new()
    }

    async fn until_answered(&mut self, open: &mut Open, way: Way) -> Vec<Job> {
        let mut pauses = Pauses::new();
        let mut again = 0;
        loop {
            let trouble = match self.attempt(open, way).await {
                Ok(()) => return Vec::new(),
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::Lost(error) => {
                    self.link = None;
                    open.last = error;
                }
                Trouble::Again(error) if again < AGAIN => open.last = error,
                Trouble::Server(_) if way == Way::Together => {
                    return std::mem::take(&mut open.jobs);
                }
                other => {
                    let error = other.into_error();
                    open.jobs.drain(..).for_each(|job| job.answer(Err(error.clone())));
                    return Vec::new();
                }
            }
            again += 1;
            pauses.wait().await;
        }
    }

    async fn attempt(&mut self, open: &mut Open, way: Way) -> Result<(), Trouble> {
        let link = match &mut self.link {
            Some(link) => link,
            none => none.insert(Link::connect(&self.home).await?),
        };
        settle_doubts(link, &self.notices, open).await?;
        if open.jobs.is_empty() {
            return Ok(());
        }
        let appends: Vec<&Prepared> = open.jobs.iter().map(|job| &job.prepared).collect();
        let written = match way {
            Way::Together => batch::write(link, Guard::Inside, &appends).await,
            Way::Alone => alone::write(link, &appends).await,
        };
        if let Err(Trouble::Lost(_)) = &written {
            open.jobs.iter_mut().for_each(|job| job.doubt = Doubt::Yes);
        }
        let landed = written?;
        self.home.count_commit();
        conclude(link, &self.notices, open, &landed).await
    }

    fn unsure(&self, last: &StoreError) -> StoreError {
        let reason = format!("the connection was lost in the middle of an append: {last}");
        StoreError::Broken { place: self.home.place().to_owned(), reason }
    }
}

/// Answers those of which it was not known whether they had landed, if they have.
async fn settle_doubts(link: &mut Link, notices: &Notices, open: &mut Open) -> Result<(), Trouble> {
    if open.jobs.iter().all(|job| job.doubt == Doubt::No) {
        return Ok(());
    }
    let appends: Vec<&Prepared> = open.jobs.iter().map(|job| &job.prepared).collect();
    let landed = settle::landed(link, &appends).await?;
    let mut place = 0..;
    let (done, rest) = open.jobs.drain(..).partition(|job: &Job| {
        let place = place.next().unwrap_or(usize::MAX);
        job.doubt == Doubt::Yes && landed.contains(&place)
    });
    open.jobs = rest;
    Vec::into_iter(done).for_each(|job| succeed(notices, job));
    Ok(())
}

/// Answers those that passed the fence. One that did not, after an earlier try of which nothing was
/// heard, may have been stopped by that very try.
async fn conclude(
    link: &mut Link,
    notices: &Notices,
    open: &mut Open,
    landed: &Landed,
) -> Result<(), Trouble> {
    let mut place = 0..;
    let (passed, fenced): (Vec<Job>, Vec<Job>) = open
        .jobs
        .drain(..)
        .partition(|_| place.next().is_some_and(|place: i64| landed.passed.contains(&place)));
    passed.into_iter().for_each(|job| succeed(notices, job));
    open.jobs = fenced;
    settle_doubts(link, notices, open).await?;
    for job in open.jobs.drain(..) {
        let lane = job.prepared.append.lane.clone();
        job.answer(Err(StoreError::Fenced { lane }));
    }
    Ok(())
}

fn succeed(notices: &Notices, job: Job) {
    job.prepared.letters.iter().for_each(|(to, _)| notices.tell(to));
    job.answer(Ok(()));
}
