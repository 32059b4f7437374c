//! A handle to one conversation: everything a program does with it. What it sends is mail, durable
//! before the call returns; whoever owns the lane acts on it.

mod run_stream;

use run_stream::Place;
pub use run_stream::{End, RunStream};

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::conversation::Conversation;
use windlass_core::ids::{LaneId, QuestionId, RunId, Seq};
use windlass_core::log::Entry;
use windlass_core::mail::{Answer, MailBody};
use windlass_core::question::Question;
use windlass_core::run_settings::RunSettings;

use crate::driver::{self, DriveError};
use crate::feed::{OwnerFeed, Subscription};
use crate::host::Host;
use crate::ports::{Letter, MAIL_PAGE, Removed, SessionEndReason, StoreError};

/// A handle to one conversation.
#[derive(Clone)]
pub struct Session {
    host: Arc<Host>,
    lane: LaneId,
}

impl Session {
    pub(crate) fn new(host: Arc<Host>, lane: LaneId) -> Self {
        Self { host, lane }
    }

    /// The lane it runs under.
    #[must_use]
    pub fn lane(&self) -> &LaneId {
        &self.lane
    }

    /// Sends a prompt and gives the stream of the run it becomes. On a busy lane the run waits its
    /// turn. Dropping the stream cancels the run, unless it was detached.
    pub async fn send(&self, text: &str) -> Result<RunStream, DriveError> {
        self.send_blocks(vec![Block::text(text)]).await
    }

    /// The same with any content: images, documents, what the model takes.
    pub async fn send_blocks(&self, blocks: Vec<Block>) -> Result<RunStream, DriveError> {
        self.send_as(RunId::from(uuid::Uuid::now_v7().to_string()), blocks).await
    }

    /// The same with settings that belong to this run alone: they wait with the prompt if it waits,
    /// whichever process drives it, and the next run does not have them.
    pub async fn send_with(
        &self,
        blocks: Vec<Block>,
        settings: RunSettings,
    ) -> Result<RunStream, DriveError> {
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        let head = self.post(&run, blocks, Some(Arc::new(settings))).await?;
        self.stream(Some(run), head).await
    }

    /// The same as the run of this id, which the caller minted: sent again after a failure, it is
    /// still one prompt. An id that is not a UUID is refused: the tables that name runs require one.
    pub async fn send_as(&self, run: RunId, blocks: Vec<Block>) -> Result<RunStream, DriveError> {
        if !run.is_uuid() {
            let what = format!("the run id `{run}` is not a UUID; mint one for every prompt");
            return Err(StoreError::Invalid { what }.into());
        }
        let head = self.post(&run, blocks, Some(self.own_settings())).await?;
        self.stream(Some(run), head).await
    }

    /// What this program gives its own prompts.
    fn own_settings(&self) -> Arc<RunSettings> {
        Arc::new(RunSettings::of(&self.host.agent().settings))
    }

    /// Leaves a prompt for whoever works on the lane next, and gives the run it will become.
    pub async fn leave(&self, text: &str) -> Result<RunId, StoreError> {
        self.leave_blocks(vec![Block::text(text)]).await
    }

    /// The same with any content.
    pub async fn leave_blocks(&self, blocks: Vec<Block>) -> Result<RunId, StoreError> {
        self.leave_with(blocks, None).await
    }

    /// The same with settings that belong to this run alone; the rest is up to whoever works on it.
    pub async fn leave_with(
        &self,
        blocks: Vec<Block>,
        settings: Option<RunSettings>,
    ) -> Result<RunId, StoreError> {
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        self.post(&run, blocks, settings.map(Arc::new)).await?;
        Ok(run)
    }

    async fn post(
        &self,
        run: &RunId,
        blocks: Vec<Block>,
        settings: Option<Arc<RunSettings>>,
    ) -> Result<Seq, StoreError> {
        let head = self.begin().await?;
        let key = Arc::from(format!("prompt:{run}"));
        let body = MailBody::Prompt { run: run.clone(), blocks, settings };
        self.deliver_as(key, body).await?;
        Ok(head)
    }

    /// Takes the lane up where it was left and gives the stream of what happens.
    pub async fn resume(&self) -> Result<RunStream, DriveError> {
        let now = self.conversation().await?;
        let run = match now.run {
            Some(run) => Some(run.id),
            None => self.next_prompt().await?,
        };
        self.stream(run, now.head).await
    }

    /// The run that begins when the inbox is read: that of the first prompt which nobody cancelled.
    async fn next_prompt(&self) -> Result<Option<RunId>, StoreError> {
        let store = &self.host.agent().ports.store;
        if store.lane(self.lane.clone()).await?.is_none() {
            return Ok(None);
        }
        // Messages that cannot be read are told by whoever drives the lane.
        let waiting = store.read_mail(self.lane.clone(), MAIL_PAGE).await.unwrap_or_default();
        let ends = |run: &RunId| {
            waiting.iter().any(|mail| {
                matches!(
                    &mail.body,
                    MailBody::Cancel { run: Some(target) } | MailBody::Abort { run: Some(target) }
                        if target == run
                )
            })
        };
        let prompts = waiting.iter().filter_map(|mail| match &mail.body {
            MailBody::Prompt { run, .. } => Some(run),
            _ => None,
        });
        let all: Vec<&RunId> = prompts.collect();
        let next = all.iter().find(|run| !ends(run)).or(all.last());
        Ok(next.map(|run| (*run).clone()))
    }

    /// Drives the lane if nobody in this process does, and watches it from `head` on either way.
    async fn stream(&self, run: Option<RunId>, head: Seq) -> Result<RunStream, DriveError> {
        match self.drive(run.clone(), head) {
            Some(stream) => Ok(stream),
            None => {
                // Few streams begin so, and all would keep the room for it.
                let place = Place { session: self.clone(), head };
                Box::pin(RunStream::following(run, place)).await
            }
        }
    }

    /// Drives the lane, unless somebody in this process does.
    fn drive(&self, run: Option<RunId>, head: Seq) -> Option<RunStream> {
        let reservation = self.host.reserve(&self.lane)?;
        let (owner, items) = OwnerFeed::new(run.clone());
        let driving = tokio::spawn(reservation.drive(Some(owner)));
        let place = Place { session: self.clone(), head };
        Some(RunStream::owning(run, place, items, driving))
    }

    /// Waits for as long as a silent owner counts as alive.
    async fn silence(&self) {
        self.host.silence().await;
    }

    /// Resolves when a lane of this process has come to rest: perhaps a child that asks.
    async fn child_rested(&self) {
        self.host.rested().await;
    }

    /// Drives whoever a run waits for, and the run, if nobody does.
    fn look_after_family(&self, waits: &Conversation) {
        self.host.look_after_family(&self.lane, waits);
    }

    /// What humans are asked by the children that the active run waits for: each question with the
    /// lane that takes the answer. `None` while some of them are still at work.
    pub async fn asked_by_children(&self) -> Result<Option<Vec<(LaneId, Question)>>, DriveError> {
        let now = self.conversation().await?;
        self.asked_by(&now).await
    }

    async fn asked_by(
        &self,
        waits: &Conversation,
    ) -> Result<Option<Vec<(LaneId, Question)>>, DriveError> {
        self.host.asked_by_children(&self.lane, waits).await
    }

    /// Says something to the active run after its current round; on an idle lane it is a prompt.
    pub async fn steer(&self, text: &str) -> Result<(), StoreError> {
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        self.deliver(MailBody::Steer { run, blocks: vec![Block::text(text)] }).await
    }

    /// Answers a question.
    pub async fn answer(&self, question: QuestionId, answer: Answer) -> Result<(), StoreError> {
        self.deliver(MailBody::Answer { question, answer }).await
    }

    /// Asks the run to end at the next safe boundary; the active one if none is named.
    pub async fn cancel(&self, run: Option<RunId>) -> Result<(), StoreError> {
        self.deliver(MailBody::Cancel { run }).await
    }

    /// The same for a run that rests here because it waits for its children.
    async fn cancel_waiting(&self, run: Option<RunId>) -> Result<(), StoreError> {
        if self.host.waits_for_children(&self.lane) {
            self.cancel(run).await?;
        }
        Ok(())
    }

    /// Asks the run to end now, interrupting what may be interrupted.
    pub async fn abort(&self, run: Option<RunId>) -> Result<(), StoreError> {
        self.deliver(MailBody::Abort { run }).await
    }

    /// Tells the hooks that this program is done with the conversation, and waits for them no longer
    /// than a hook may take. They cannot hold anything back; the conversation can be resumed later.
    pub async fn end(&self, reason: SessionEndReason) {
        self.host.finish_notifications().await;
        self.host.end_session(self.lane.clone(), reason).await;
    }

    /// Deletes the conversation with everything stored for it, its sub-agents included. Refused while
    /// a run of it is not finished, and while a fork shares its history.
    pub async fn delete(&self) -> Result<Removed, StoreError> {
        self.host.agent().ports.store.remove(self.lane.clone()).await
    }

    /// A reader of everything after entry `after`, whichever process writes it.
    #[must_use]
    pub fn subscribe(&self, after: Seq) -> Subscription {
        let ports = self.host.agent().ports.clone();
        Subscription::new(self.lane.clone(), ports, self.host.feed(&self.lane).listen(), after)
    }

    /// A new conversation that shares this one's history up to `at`, or to its last closed round
    /// before that. What it will cost is its own.
    pub async fn fork(&self, at: Option<Seq>) -> Result<Session, DriveError> {
        let at = self.last_rest(at.unwrap_or(Seq::MAX)).await?;
        let child = LaneId::from(format!("conversation:{}", uuid::Uuid::now_v7()));
        self.host.agent().ports.store.fork(self.lane.clone(), at, child.clone()).await?;
        Ok(Self::new(Arc::clone(&self.host), child))
    }

    /// The conversation as it was at entry `head`.
    async fn conversation_at(&self, head: Seq) -> Result<Conversation, DriveError> {
        driver::load_to(&self.host.agent().ports, &self.lane, head).await
    }

    async fn last_rest(&self, most: Seq) -> Result<Seq, DriveError> {
        let mut subscriber = Conversation::default();
        let mut rest = 0;
        for entry in self.log().await? {
            if entry.seq > most {
                break;
            }
            subscriber.fold(&entry)?;
            if subscriber.is_at_rest() {
                rest = entry.seq;
            }
        }
        Ok(rest)
    }

    /// The whole log.
    pub async fn log(&self) -> Result<Vec<Entry>, DriveError> {
        let store = &self.host.agent().ports.store;
        let stored = store.read_log(self.lane.clone(), 0, usize::MAX).await?;
        let parse = |entry: &crate::ports::EncodedEntry| Entry::parse(entry.seq, &entry.line);
        Ok(stored.iter().map(parse).collect::<Result<_, _>>()?)
    }

    /// The entries after `after` and before `until`.
    async fn entries_between(&self, after: Seq, until: Seq) -> Result<Vec<Entry>, DriveError> {
        let store = &self.host.agent().ports.store;
        let most = usize::try_from(until.saturating_sub(after)).unwrap_or(usize::MAX);
        let stored = store.read_log(self.lane.clone(), after, most).await?;
        let between = stored.iter().filter(|entry| entry.seq < until);
        let parse = |entry: &crate::ports::EncodedEntry| Entry::parse(entry.seq, &entry.line);
        Ok(between.map(parse).collect::<Result<_, _>>()?)
    }

    /// Returns whether a driver of this process has the conversation at this moment.
    #[must_use]
    pub fn is_driven_here(&self) -> bool {
        self.host.is_driving(&self.lane)
    }

    /// The conversation as the log has it.
    pub async fn conversation(&self) -> Result<Conversation, DriveError> {
        driver::load(&self.host.agent().ports, &self.lane).await
    }

    /// The lane's head; a lane that is new is said to be this process's.
    async fn begin(&self) -> Result<Seq, StoreError> {
        let store = &self.host.agent().ports.store;
        match store.lane(self.lane.clone()).await? {
            Some(lane) => {
                // A conversation that gets tools of a folder belongs to it from then on.
                let whose = self.host.whose();
                if lane.whose.affinity.is_empty() && !whose.affinity.is_empty() {
                    store.introduce(self.lane.clone(), whose).await?;
                }
                Ok(lane.head)
            }
            None => {
                store.introduce(self.lane.clone(), self.host.whose()).await?;
                Ok(0)
            }
        }
    }

    async fn deliver(&self, body: MailBody) -> Result<(), StoreError> {
        self.deliver_as(Arc::from(uuid::Uuid::now_v7().to_string()), body).await
    }

    async fn deliver_as(&self, key: Arc<str>, body: MailBody) -> Result<(), StoreError> {
        let letter = Letter { key, body };
        self.host.agent().ports.store.deliver(self.lane.clone(), letter).await?;
        self.host.poke(&self.lane);
        Ok(())
    }
}
