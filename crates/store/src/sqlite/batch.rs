//! One transaction for many pieces of work. One that is refused leaves the others alone; one that
//! fails halfway sends all of them through transactions of their own.

use std::sync::Arc;

use rusqlite::Connection;
use windlass_core::record::Durability;
use windlass_runtime::ports::StoreError;

use super::checkpoint::{self, Checkpoints};
use super::desk::Job;
use super::error::{Stop, is_busy, is_failing_disk};
use super::home::Home;
use super::open::patiently;
use super::step::{Answer, Work};
use super::sync::Syncer;
use crate::hints::Hints;

#[derive(Debug)]
pub(super) struct Batches {
    home: Arc<Home>,
    connection: Connection,
    hints: Arc<Hints>,
    syncer: Syncer,
    checkpoints: Checkpoints,
}

type Outcome = Result<Answer, StoreError>;

/// Why a transaction did not happen.
enum Failed {
    /// One piece of work spoiled it; the others may fare better alone.
    Spoiled(StoreError),
    /// It failed as a whole.
    Whole(StoreError),
}

impl Batches {
    pub(super) fn new(
        home: Arc<Home>,
        connection: Connection,
        hints: Arc<Hints>,
        syncer: Syncer,
        checkpoints: Checkpoints,
    ) -> Self {
        Self { home, connection, hints, syncer, checkpoints }
    }

    /// Commits the batch; waits for whoever holds the file.
    pub(super) fn commit(&mut self, batch: Vec<Job>) {
        let begun = self.home.sound().and_then(|()| {
            let begun = patiently(self.home.patience(), || self.begin());
            begun.map_err(|error| self.told(&error))
        });
        match begun {
            Ok(()) => self.go_on(batch),
            Err(error) => refuse(batch, &error),
        }
    }

    /// Commits the batch, or gives it back if somebody else holds the file.
    pub(super) fn try_commit(&mut self, batch: Vec<Job>) -> Result<(), Vec<Job>> {
        if batch.is_empty() {
            return Ok(());
        }
        match self.home.sound().map(|()| self.begin()) {
            Ok(Ok(())) => self.go_on(batch),
            Ok(Err(error)) if is_busy(&error) => return Err(batch),
            Ok(Err(error)) => refuse(batch, &self.told(&error)),
            Err(error) => refuse(batch, &error),
        }
        Ok(())
    }

    /// The transaction has begun.
    fn go_on(&mut self, batch: Vec<Job>) {
        match self.transact(&batch) {
            Ok(outcomes) => self.answer(batch.into_iter().zip(outcomes)),
            Err(Failed::Spoiled(_)) if batch.len() > 1 => {
                batch.into_iter().for_each(|job| self.commit(vec![job]));
            }
            Err(Failed::Spoiled(error) | Failed::Whole(error)) => refuse(batch, &error),
        }
    }

    /// Whether the log is to be moved into the database: it takes its time.
    pub(super) fn log_is_long(&self) -> bool {
        self.checkpoints.are_due()
    }

    pub(super) fn move_log(&self) {
        self.checkpoints.if_due(&self.home, &self.connection);
    }

    /// Something went wrong where nothing can: nothing is certain from here on.
    pub(super) fn break_down(&self) {
        let _: StoreError = self.home.break_down("the writer broke down");
    }

    pub(super) fn close(self) {
        self.syncer.close();
        checkpoint::at_close(&self.home, &self.connection);
    }

    fn transact(&self, batch: &[Job]) -> Result<Vec<Outcome>, Failed> {
        let performed = batch.iter().map(|job| self.perform(&job.work)).collect();
        let outcomes: Vec<Outcome> = match performed {
            Ok(outcomes) => outcomes,
            Err(error) => return Err(Failed::Spoiled(self.undo(error))),
        };
        done(batch, &outcomes).for_each(Work::before_commit);
        self.end()?;
        done(batch, &outcomes).for_each(Work::after_commit);
        Ok(outcomes)
    }

    fn begin(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]).map(drop)
    }

    /// The outcome, or the error for which the transaction must be undone.
    fn perform(&self, work: &Work) -> Result<Outcome, StoreError> {
        match work.perform(&self.connection) {
            Ok(answer) => Ok(Ok(answer)),
            Err(Stop::Refused(error)) => Ok(Err(error)),
            Err(Stop::Undo(error)) => Err(error),
            Err(Stop::Engine(error)) => Err(self.told(&error)),
        }
    }

    fn end(&self) -> Result<(), Failed> {
        let commit = || self.connection.prepare_cached("COMMIT")?.execute([]);
        match commit() {
            Ok(_) => self.home.count_commit(),
            Err(error) => return Err(Failed::Whole(self.undo(self.told(&error)))),
        }
        Ok(())
    }

    /// Takes back the transaction, unless SQLite has done so already.
    fn undo(&self, error: StoreError) -> StoreError {
        if self.connection.is_autocommit() {
            return error;
        }
        match self.connection.execute_batch("ROLLBACK") {
            Ok(()) => error,
            Err(second) => self.home.break_down(&format!("rollback failed: {second}")),
        }
    }

    /// After a failing read or write nothing about the file is certain, so nothing more is written.
    fn told(&self, error: &rusqlite::Error) -> StoreError {
        match is_failing_disk(error) {
            true => self.home.break_down(&error.to_string()),
            false => self.home.explain(error),
        }
    }

    fn answer(&self, answers: impl Iterator<Item = (Job, Outcome)>) {
        let mut waiting = Vec::new();
        for (job, outcome) in answers {
            if outcome.is_ok() {
                job.work.tell(&self.hints);
            }
            match (job.durability, outcome) {
                (Durability::Barrier, Ok(answer)) => waiting.push((job, answer)),
                (_, outcome) => reply(job, outcome),
            }
        }
        if !waiting.is_empty() {
            self.syncer.send(waiting);
        }
    }
}

/// The work that changed something.
fn done<'b>(batch: &'b [Job], outcomes: &'b [Outcome]) -> impl Iterator<Item = &'b Work> {
    let both = batch.iter().zip(outcomes);
    both.filter(|(_, outcome)| outcome.is_ok()).map(|(job, _)| &job.work)
}

fn refuse(batch: Vec<Job>, error: &StoreError) {
    batch.into_iter().for_each(|job| reply(job, Err(error.clone())));
}

/// Whoever stopped waiting is not told; the work stands all the same.
pub(super) fn reply(job: Job, outcome: Outcome) {
    let landed = outcome.is_ok();
    _ = job.reply.send(outcome);
    if landed {
        job.work.after_reply();
    }
}
