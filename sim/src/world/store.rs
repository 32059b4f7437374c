//! The disk as one process reaches it: slow, at times unreachable, and at times lying about whether
//! it did what it was asked.

mod broken;

use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::budget::Spent;
use windlass_core::ids::{Epoch, LaneId, Millis, Seq};
use windlass_core::mail::Mail;
use windlass_core::project::RawRow;
use windlass_runtime::ports::{
    Append, Claim, Delivered, EncodedEntry, EventCount, Forget, Forgotten, LaneInfo, Left, Letter,
    Look, NumberedWorkerEvent, Reconcile, Removed, RunInfo, SeenBeat, ServedWorkspace,
    SpendingAccount, Store, StoreError, Task, ToolStats, TraceEnd, Whose, WorkerEvent,
    WorkerEventPage, WorkerId, WorkerInfo,
};

use super::clock::nap;
use super::dice::Dice;
use super::gate::{Door, Gate};
use super::shared::Shared;
use super::witness::ProcessId;

/// How late the answer to a claim comes that was forgotten.
const LATE_MS: u64 = 800;

pub(crate) struct ProcessStore {
    shared: Arc<Shared>,
    process: ProcessId,
    gate: Arc<Gate>,
    dice: Mutex<Dice>,
}

/// What goes wrong with one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mishap {
    None,
    /// It fails and nothing happened.
    Before,
    /// It happens and seems to fail.
    After,
}

impl ProcessStore {
    pub(crate) fn new(shared: Arc<Shared>, process: ProcessId, gate: Arc<Gate>) -> Self {
        let dice = Dice::about(shared.plan.seed, &format!("store of process {process}"));
        Self { shared, process, gate, dice: Mutex::new(dice) }
    }

    fn throw<T>(&self, look: impl FnOnce(&mut Dice) -> T) -> T {
        look(&mut self.dice.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn on_the_way(&self) {
        let percent = if self.shared.is_calm() { 0 } else { self.shared.plan.store.delay_percent };
        let delay = self.throw(|dice| dice.chance(percent).then(|| dice.within(1, 60)));
        if let Some(ms) = delay {
            nap(ms).await;
        }
        self.gate.pass(Door::Store).await;
    }

    fn mishap(&self, of_thousand: u64, what: &str) -> Mishap {
        if self.shared.is_calm() {
            return Mishap::None;
        }
        let mishap = self.throw(|dice| match (dice.below(1_000) < of_thousand, dice.chance(50)) {
            (false, _) => Mishap::None,
            (true, false) => Mishap::Before,
            (true, true) => Mishap::After,
        });
        if mishap != Mishap::None {
            self.shared.fault(&format!("{what} of process {} fails {mishap:?}", self.process));
        }
        mishap
    }

    /// Does it, or fails, or both.
    async fn attempt<T>(
        &self,
        what: &str,
        of_thousand: u64,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.shared.count(what).await;
        self.on_the_way().await;
        let result = match self.mishap(of_thousand, what) {
            Mishap::None => work.await,
            Mishap::Before => Err(cut()),
            Mishap::After => work.await.and(Err(cut())),
        };
        self.on_the_way().await;
        result
    }

    fn rarely(&self) -> u64 {
        self.shared.plan.store.other_faults
    }

    async fn accept(&self, lane: LaneId, letter: Letter) -> Result<Delivered, StoreError> {
        let delivered = self.shared.disk.deliver(lane.clone(), letter).await?;
        self.shared.witness.mail(&lane, delivered.mail);
        Ok(delivered)
    }

    async fn take(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<SeenBeat>,
    ) -> Result<Claim, StoreError> {
        let claim = self.shared.disk.claim(lane.clone(), worker.clone(), dead).await?;
        // One that was forgotten never was: nothing may be done with it. Its answer comes late enough
        // for somebody else to be given the same epoch.
        match self.shared.disk.holds(&lane, &worker, claim.epoch) {
            true => self.shared.witness.claim(&lane, claim.epoch, self.process),
            false => nap(self.throw(|dice| dice.below(LATE_MS))).await,
        }
        Ok(claim)
    }

    async fn take_wanting(
        &self,
        worker: WorkerId,
        look: Look,
    ) -> Result<Vec<(LaneId, Claim)>, StoreError> {
        let claims = self.shared.disk.claim_wanting(worker, look).await?;
        for (lane, claim) in &claims {
            self.shared.witness.claim(lane, claim.epoch, self.process);
        }
        Ok(claims)
    }
}

fn cut() -> StoreError {
    StoreError::Broken { place: "disk".to_owned(), reason: "the connection was cut".to_owned() }
}

impl Store for ProcessStore {
    fn deliver(&self, lane: LaneId, letter: Letter) -> Task<'_, Result<Delivered, StoreError>> {
        Box::pin(self.attempt("a delivery", self.rarely(), self.accept(lane, letter)))
    }

    fn claim(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<SeenBeat>,
    ) -> Task<'_, Result<Claim, StoreError>> {
        Box::pin(self.attempt("a claim", self.rarely(), self.take(lane, worker, dead)))
    }

    fn release(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> Task<'_, Result<(), StoreError>> {
        let release = self.shared.disk.release(lane, worker, epoch);
        Box::pin(self.attempt("a release", self.rarely(), release))
    }

    fn beat(&self, worker: WorkerId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(self.attempt("a beat", self.rarely(), self.shared.disk.beat(worker)))
    }

    fn append(&self, append: Append) -> Task<'_, Result<(), StoreError>> {
        let faults = self.shared.plan.store.append_faults;
        let append = async {
            let append = broken::adjust(&self.shared, append).await?;
            self.shared.disk.append(append).await
        };
        Box::pin(self.attempt("an append", faults, append))
    }

    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<EncodedEntry>, StoreError>> {
        Box::pin(self.attempt(
            "a read",
            self.rarely(),
            self.shared.disk.read_log(lane, after, most),
        ))
    }

    fn read_mail(&self, lane: LaneId, most: usize) -> Task<'_, Result<Vec<Mail>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.read_mail(lane, most)))
    }

    fn fork(&self, parent: LaneId, at: Seq, child: LaneId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(self.attempt("a fork", self.rarely(), self.shared.disk.fork(parent, at, child)))
    }

    fn mail_hint(&self, lane: LaneId) -> Task<'_, ()> {
        Box::pin(async move {
            self.shared.disk.mail_hint(lane).await;
            self.gate.pass(Door::Store).await;
        })
    }

    fn lane(&self, lane: LaneId) -> Task<'_, Result<Option<LaneInfo>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.lane(lane)))
    }

    fn hint_at_mail(&self, owner: WorkerId) -> Task<'_, Result<(), StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.hint_at_mail(owner)))
    }

    fn introduce(&self, lane: LaneId, whose: Whose) -> Task<'_, Result<(), StoreError>> {
        let introduced = self.shared.disk.introduce(lane, whose);
        Box::pin(self.attempt("an introduction", self.rarely(), introduced))
    }

    fn reconcile(&self, pass: Reconcile) -> Task<'_, Result<Vec<Left>, StoreError>> {
        Box::pin(self.attempt("a pass", self.rarely(), self.shared.disk.reconcile(pass)))
    }

    fn forget(&self, forget: Forget) -> Task<'_, Result<Forgotten, StoreError>> {
        self.shared.disk.forget(forget)
    }

    fn owners(&self) -> Task<'_, Result<Vec<SeenBeat>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.owners()))
    }

    fn claim_wanting(
        &self,
        worker: WorkerId,
        look: Look,
    ) -> Task<'_, Result<Vec<(LaneId, Claim)>, StoreError>> {
        Box::pin(self.attempt("a claim", self.rarely(), self.take_wanting(worker, look)))
    }

    fn owned(&self, owner: WorkerId) -> Task<'_, Result<Vec<LaneId>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.owned(owner)))
    }

    fn raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<RawRow>, StoreError>> {
        let read = self.shared.disk.raw_responses(lane, after, most);
        Box::pin(self.attempt("a read", self.rarely(), read))
    }

    fn trace_ends(
        &self,
        since: Millis,
        most: usize,
    ) -> Task<'_, Result<Vec<TraceEnd>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.trace_ends(since, most)))
    }

    fn announce(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> Task<'_, Result<(), StoreError>> {
        self.shared.disk.announce(worker, workspaces)
    }

    fn workers(&self) -> Task<'_, Result<Vec<WorkerInfo>, StoreError>> {
        self.shared.disk.workers()
    }

    fn wake(&self, lane: LaneId) -> Task<'_, Result<bool, StoreError>> {
        Box::pin(self.attempt("a wake", self.rarely(), self.shared.disk.wake(lane)))
    }

    fn remove(&self, lane: LaneId) -> Task<'_, Result<Removed, StoreError>> {
        self.shared.disk.remove(lane)
    }

    fn spending(&self, account: SpendingAccount) -> Task<'_, Result<Spent, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.spending(account)))
    }

    fn tool_stats(&self, since: Millis) -> Task<'_, Result<Vec<ToolStats>, StoreError>> {
        self.shared.disk.tool_stats(since)
    }

    fn event_counts(&self, since: Millis) -> Task<'_, Result<Vec<EventCount>, StoreError>> {
        self.shared.disk.event_counts(since)
    }

    fn record_worker_event(&self, event: WorkerEvent) -> Task<'_, Result<(), StoreError>> {
        let recorded = self.shared.disk.record_worker_event(event);
        Box::pin(self.attempt("an event", self.rarely(), recorded))
    }

    fn worker_events(
        &self,
        page: WorkerEventPage,
        most: usize,
    ) -> Task<'_, Result<Vec<NumberedWorkerEvent>, StoreError>> {
        self.shared.disk.worker_events(page, most)
    }

    fn runs(
        &self,
        lane: Option<LaneId>,
        most: usize,
    ) -> Task<'_, Result<Vec<RunInfo>, StoreError>> {
        Box::pin(self.attempt("a read", self.rarely(), self.shared.disk.runs(lane, most)))
    }
}
