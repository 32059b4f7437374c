//! Where lanes live. The methods are steps of a protocol, not SQL: each implementation says them in
//! its engine's words, and one conformance suite holds all of them to the same meaning.

use std::sync::Arc;

use super::Task;
use super::finding::{Left, Look, Reconcile, SeenBeat, ServedWorkspace, Whose, WorkerInfo};
use super::forgetting::{Forget, Forgotten};
use super::records::{
    EventCount, NumberedWorkerEvent, SpendingAccount, SpendingChange, ToolStats, WorkerEvent,
    WorkerEventPage,
};
use super::store_error::StoreError;
use windlass_core::budget::Spent;
use windlass_core::ids::{Epoch, LaneId, MailId, Millis, RunId, Seq};
use windlass_core::mail::{Mail, MailBody};
use windlass_core::project::{RawRow, Row, RunDescription};
use windlass_core::record::Durability;
use windlass_core::stop::{RunState, StopCause};

/// A store of lanes.
pub trait Store: Send + Sync + 'static {
    /// Accepts a mail, making the lane if it is new. Durable when it returns. The same key again
    /// gives the first mail's id and changes nothing.
    fn deliver(&self, lane: LaneId, letter: Letter) -> Task<'_, Result<Delivered, StoreError>>;

    /// Takes the lane: raises its epoch, so that every other owner is fenced from here on. A lane
    /// with an owner is [`StoreError::Busy`], unless `dead` names that owner and the very beat it
    /// still shows: then the caller has watched it stand still for a whole lease.
    ///
    /// A claim may be forgotten when the store's machine crashes, until something is appended with
    /// it. Then its epoch is given to somebody else: an owner is known by its name *and* its epoch.
    fn claim(
        &self,
        lane: LaneId,
        worker: WorkerId,
        dead: Option<SeenBeat>,
    ) -> Task<'_, Result<Claim, StoreError>>;

    /// Gives the lane back. Fenced owners have nothing to give back.
    fn release(
        &self,
        lane: LaneId,
        worker: WorkerId,
        epoch: Epoch,
    ) -> Task<'_, Result<(), StoreError>>;

    /// Says that the worker is alive.
    fn beat(&self, worker: WorkerId) -> Task<'_, Result<(), StoreError>>;

    /// Appends entries with their rows in one transaction, if owner, epoch and head are still the
    /// lane's: otherwise [`StoreError::Fenced`] and nothing is written. A lane that is made by its mail
    /// belongs to whom the lane belongs to that sent it.
    fn append(&self, append: Append) -> Task<'_, Result<(), StoreError>>;

    /// Entries after `after`, oldest first, at most `most`. A fork's log begins with its parent's.
    fn read_log(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<EncodedEntry>, StoreError>>;

    /// Mail that no entry has read yet, oldest first, at most `most`.
    fn read_mail(&self, lane: LaneId, most: usize) -> Task<'_, Result<Vec<Mail>, StoreError>>;

    /// Makes `child` a lane whose log continues `parent`'s after entry `at`, and that belongs to whom
    /// `parent` belongs to.
    fn fork(&self, parent: LaneId, at: Seq, child: LaneId) -> Task<'_, Result<(), StoreError>>;

    /// Waits until somebody may have delivered mail to the lane, in this process. A hint: other
    /// processes are seen by polling.
    fn mail_hint(&self, lane: LaneId) -> Task<'_, ()>;

    /// Waits until somebody may have delivered mail to any lane. A hint like the other one; a store
    /// that gives none is polled.
    fn any_mail_hint(&self) -> Task<'_, ()> {
        Box::pin(std::future::pending())
    }

    /// The workers that own lanes, each with the beats it has sent.
    fn owners(&self) -> Task<'_, Result<Vec<SeenBeat>, StoreError>>;

    /// Hints at every lane of `owner` in which mail lies that no entry has read: what other
    /// processes delivered shows itself so, for all lanes of a process at once.
    fn hint_at_mail(&self, owner: WorkerId) -> Task<'_, Result<(), StoreError>>;

    /// Says whose a lane is, making it if it is new. One that is known keeps what it has.
    fn introduce(&self, lane: LaneId, whose: Whose) -> Task<'_, Result<(), StoreError>>;

    /// Takes note that owners are dead: their lanes are fenced and have no owner from here on, and a
    /// run that was at work on one is `timed_out`, to be resumed if its last checkpoint allows it.
    fn reconcile(&self, pass: Reconcile) -> Task<'_, Result<Vec<Left>, StoreError>>;

    /// Takes lanes that want to be driven and that nobody has: they have mail, or are due. A lane
    /// that was left while something was in the air is due. One tenant after the other. An error
    /// may hide that lanes were taken: [`Store::owned`] says which.
    fn claim_wanting(
        &self,
        worker: WorkerId,
        look: Look,
    ) -> Task<'_, Result<Vec<(LaneId, Claim)>, StoreError>>;

    /// The lanes of `owner`.
    fn owned(&self, owner: WorkerId) -> Task<'_, Result<Vec<LaneId>, StoreError>>;

    /// Forgets rows that are too old: nothing of a log, and nothing that a conversation goes on
    /// from. A bounded piece of it; whoever wants all of it asks until nothing was found.
    fn forget(&self, forget: Forget) -> Task<'_, Result<Forgotten, StoreError>>;

    /// Says what a worker serves, so that people can see what a conversation waits for.
    fn announce(
        &self,
        worker: WorkerId,
        workspaces: Vec<ServedWorkspace>,
    ) -> Task<'_, Result<(), StoreError>>;

    /// The workers that announced themselves and beat within the last minutes.
    fn workers(&self) -> Task<'_, Result<Vec<WorkerInfo>, StoreError>>;

    /// Makes a lane with an unfinished run due at once: whoever works takes it up next. `false` if
    /// there is no such run.
    fn wake(&self, lane: LaneId) -> Task<'_, Result<bool, StoreError>>;

    /// Removes a lane, the lanes of its sub-agents, and everything stored for them. Refused while one
    /// of them has an owner or an unfinished run, and while a fork shares its history.
    fn remove(&self, lane: LaneId) -> Task<'_, Result<Removed, StoreError>>;

    /// What is known of a lane.
    fn lane(&self, lane: LaneId) -> Task<'_, Result<Option<LaneInfo>, StoreError>>;

    /// Runs, newest first, at most `most`. A prompt that nobody has read yet is a queued run.
    fn runs(&self, lane: Option<LaneId>, most: usize)
    -> Task<'_, Result<Vec<RunInfo>, StoreError>>;

    /// The last trace row of every run that ended at `since` or later, newest run first, at most
    /// `most`. A run that ended before it began has no row.
    fn trace_ends(&self, since: Millis, most: usize)
    -> Task<'_, Result<Vec<TraceEnd>, StoreError>>;

    /// What providers answered on a lane, as it came, with the entries after `after`; oldest first, at
    /// most `most`. Answers that were too old are gone.
    fn raw_responses(
        &self,
        lane: LaneId,
        after: Seq,
        most: usize,
    ) -> Task<'_, Result<Vec<RawRow>, StoreError>>;

    /// What an account has spent, with what is set aside for calls in progress.
    fn spending(&self, account: SpendingAccount) -> Task<'_, Result<Spent, StoreError>>;

    /// How the tools did whose calls began or ended at `since` or later, by name.
    fn tool_stats(&self, since: Millis) -> Task<'_, Result<Vec<ToolStats>, StoreError>>;

    /// How often each event happened at `since` or later, by agent, profile and name.
    fn event_counts(&self, since: Millis) -> Task<'_, Result<Vec<EventCount>, StoreError>>;

    /// Keeps an event of a worker.
    fn record_worker_event(&self, event: WorkerEvent) -> Task<'_, Result<(), StoreError>>;

    /// Events of workers, at most `most`, oldest first.
    fn worker_events(
        &self,
        page: WorkerEventPage,
        most: usize,
    ) -> Task<'_, Result<Vec<NumberedWorkerEvent>, StoreError>>;
}

/// A process that owns lanes: a new random name at every start, never configured.
pub type WorkerId = Arc<str>;

/// A mail to be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The sender's key: the same letter twice is one mail.
    pub key: Arc<str>,
    /// What it says.
    pub body: MailBody,
}

/// An accepted mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// Its id.
    pub mail: MailId,
}

/// A lane taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The epoch to append with.
    pub epoch: Epoch,
    /// The last entry.
    pub head: Seq,
    /// The lane this one continues, and the last entry they share.
    pub fork_of: Option<(LaneId, Seq)>,
    /// Whose turn it is when it is this lane's.
    pub tenant: Arc<str>,
    /// The id of the workspace that its tools need; empty for none.
    pub affinity: Arc<str>,
    /// The mail that lay in it when it was taken, oldest first, at most [`MAIL_PAGE`]. Nothing if it
    /// cannot be read: [`Store::read_mail`] says why, and no other lane has to hear of it.
    pub mail: Option<Vec<Mail>>,
}

/// Mail read at once.
pub const MAIL_PAGE: usize = 64;

/// One append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// To which lane.
    pub lane: LaneId,
    /// By whom.
    pub owner: WorkerId,
    /// With which epoch.
    pub epoch: Epoch,
    /// After which entry.
    pub head: Seq,
    /// The encoded entries, dense after `head`.
    pub entries: Vec<EncodedEntry>,
    /// Mail these entries read.
    pub mail_read: Vec<MailId>,
    /// Mail to other lanes.
    pub mail_out: Vec<(LaneId, Letter)>,
    /// The rows that belong to them.
    pub rows: Vec<Row>,
    /// When the lane wants to be looked at again although nothing arrives; at once, if something is
    /// to be in the air.
    pub wake_at: Option<Millis>,
    /// The run that is active after them.
    pub active_run: Option<RunId>,
    /// What it must survive before it returns.
    pub durability: Durability,
    /// How it changes what the conversation's profile has spent, where that is capped.
    pub spending: Option<SpendingChange>,
}

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedEntry {
    /// Its place.
    pub seq: Seq,
    /// Its time.
    pub at: Millis,
    /// Its line.
    pub line: Arc<str>,
}

/// What is known of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneInfo {
    /// Which.
    pub lane: LaneId,
    /// How often it changed owner.
    pub epoch: Epoch,
    /// Its last entry.
    pub head: Seq,
    /// Who owns it.
    pub owner: Option<WorkerId>,
    /// The run that is active.
    pub active_run: Option<RunId>,
    /// When it wants to be looked at again.
    pub wake_at: Option<Millis>,
    /// Whose it is.
    pub whose: Whose,
}

/// What was removed with a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// The lane and those of its sub-agents.
    pub lanes: Vec<LaneId>,
    /// Log entries.
    pub entries: u64,
}

impl LaneInfo {
    /// Whether this is still the claim that `worker` made. An epoch alone does not say so: a claim
    /// that was forgotten leaves its epoch to the next.
    #[must_use]
    pub fn is_held_by(&self, worker: &WorkerId, epoch: Epoch) -> bool {
        self.epoch == epoch && self.owner.as_ref() == Some(worker)
    }
}

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// Which.
    pub run: RunId,
    /// On which lane.
    pub lane: LaneId,
    /// Its state.
    pub state: RunState,
    /// Why it ended.
    pub cause: Option<StopCause>,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// When that was.
    pub at: Millis,
    /// Its owner died, and it can be resumed.
    pub resume_available: bool,
    /// Somebody asked it to end.
    pub cancel_requested: bool,
    /// What it is about.
    pub description: RunDescription,
    /// What it and its children cost so far; unknown for a model without a price.
    pub usd_micros: Option<u64>,
}

/// How a run ended, and after how many iterations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceEnd {
    /// Which run.
    pub run: RunId,
    /// How many iterations it had.
    pub iter: u32,
    /// Why the run ended: the name of its stop cause.
    pub cause: Arc<str>,
    /// When.
    pub at: Millis,
    /// The agent that drove it.
    pub agent: Option<Arc<str>>,
    /// The profile that its limits came from.
    pub profile: Option<Arc<str>>,
    /// The model that it asked.
    pub model: Option<Arc<str>>,
}
