//! One transaction for many pieces of work. One that is refused leaves the others alone; one that
//! fails halfway sends all of them through transactions of their own.

use std::sync::Arc;

use rusqlite::Connection;
use windlass_core::record::Durability;
use windlass_runtime::ports::StoreError;

use super::checkpoint::{self, Checkpoints};
use super::error::{Stop, is_failing_disk};
use super::home::Home;
use super::open::patiently;
use super::step::{Answer, Work};
use super::sync::Syncer;
use super::writer::Job;
use crate::hints::Hints;

#[derive(Debug)]
pub(super) struct Batches {
    home: Arc<Home>,
    connection: Connection,
    hints: Arc<Hints>,
    syncer: Syncer,
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
    ) -> Self {
        Self { home, connection, hints, syncer }
    }

    pub(super) fn commit(&mut self, batch: Vec<Job>) {
        match self.transact(&batch) {
            Ok(outcomes) => self.answer(batch.into_iter().zip(outcomes)),
            Err(Failed::Spoiled(_)) if batch.len() > 1 => {
                batch.into_iter().for_each(|job| self.commit(vec![job]));
            }
            Err(Failed::Spoiled(error) | Failed::Whole(error)) => refuse(batch, &error),
        }
    }

    pub(super) fn between(&self, checkpoints: &Checkpoints) {
        checkpoints.if_due(&self.home, &self.connection);
    }

    pub(super) fn close(self) {
        self.syncer.close();
        checkpoint::at_close(&self.home, &self.connection);
    }

    fn transact(&self, batch: &[Job]) -> Result<Vec<Outcome>, Failed> {
        self.home.sound().map_err(Failed::Whole)?;
        self.begin()?;
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

    fn begin(&self) -> Result<(), Failed> {
        let begin = || self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([]);
        let begun = patiently(self.home.patience(), begin);
        begun.map(drop).map_err(|error| Failed::Whole(self.told(&error)))
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
