//! A session: the handle to one conversation. Everything it sends is a command in the lane's inbox,
//! durable before the call returns; the process that owns the lane acts on it.

mod commands;
mod lane_watch;
pub(crate) mod run_outcome;
mod run_stream;
mod session_events;
mod tenant_prompts;

pub use run_outcome::RunOutcome;
pub use run_stream::RunStream;
use run_stream::StreamPosition;

use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{LaneId, RunId, Seq};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::Question;
use windlass_core::settings::run_settings::RunSettings;

use crate::driver::{self, DriveError};
use crate::feed::{OwnerFeed, StreamOptions, Subscription};
use crate::lane_host::LaneHost;
use crate::ports::{INBOX_PAGE_MESSAGES, OutboxMessage, RemovedLanes, StoreError};

/// A handle to one conversation: sends prompts, answers questions, cancels runs and reads the log.
/// Clones refer to the same conversation.
#[derive(Clone)]
pub struct Session {
    host: Arc<LaneHost>,
    lane: LaneId,
    stream_options: StreamOptions,
}

impl LaneHost {
    /// Returns a handle to the conversation on `lane`, which need not exist yet.
    #[must_use]
    pub fn session(self: &Arc<Self>, lane: impl Into<LaneId>) -> Session {
        Session::new(Arc::clone(self), lane.into())
    }
}

impl Session {
    pub(crate) fn new(host: Arc<LaneHost>, lane: LaneId) -> Self {
        Self { host, lane, stream_options: StreamOptions::default() }
    }

    /// Returns a handle to the same conversation whose streams and subscriptions also deliver what
    /// `options` asks for.
    #[must_use]
    pub fn with_stream_options(mut self, options: StreamOptions) -> Self {
        self.stream_options = options;
        self
    }

    /// Returns a handle to another conversation of the same process.
    #[must_use]
    pub fn sibling(&self, lane: impl Into<LaneId>) -> Self {
        Self::new(Arc::clone(&self.host), lane.into())
    }

    /// Returns the lane of the conversation, which is its name in the store.
    #[must_use]
    pub fn lane(&self) -> &LaneId {
        &self.lane
    }

    /// Sends a text prompt and returns the stream of its run. On a busy lane the run is queued.
    /// Dropping the stream cancels the run, unless it was [detached](RunStream::detach).
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails.
    pub async fn send(&self, text: &str) -> Result<RunStream, DriveError> {
        self.send_blocks(vec![ContentBlock::text(text)]).await
    }

    /// Sends a prompt of any content (images, documents, whatever the model accepts) and returns
    /// the stream of its run, like [`Session::send`].
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails.
    pub async fn send_blocks(&self, blocks: Vec<ContentBlock>) -> Result<RunStream, DriveError> {
        self.send_as(RunId::from(uuid::Uuid::now_v7().to_string()), blocks).await
    }

    /// Sends a prompt with settings for this run only, like [`Session::send_blocks`]. The settings
    /// are stored with the prompt, apply whichever process drives the run, and do not apply to the
    /// next run.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails.
    pub async fn send_with(
        &self,
        blocks: Vec<ContentBlock>,
        settings: RunSettings,
    ) -> Result<RunStream, DriveError> {
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        self.send_as_with(run, blocks, settings).await
    }

    /// Sends a prompt under a run id that the caller generated, with settings for this run only:
    /// [`Session::send_as`] and [`Session::send_with`] together.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Invalid`] if the id is not a UUID, which the tables of runs require,
    /// and another [`DriveError`] if the store fails.
    pub async fn send_as_with(
        &self,
        run: RunId,
        blocks: Vec<ContentBlock>,
        settings: RunSettings,
    ) -> Result<RunStream, DriveError> {
        check_run_id(&run)?;
        let head = self.enqueue_prompt(&run, blocks, Some(Arc::new(settings))).await?;
        self.open_stream(Some(run), head).await
    }

    /// Sends a prompt under a run id that the caller generated, like [`Session::send_blocks`].
    /// Sending it again with the same id after a failure is idempotent: it remains one prompt.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Invalid`] if the id is not a UUID, which the tables of runs require,
    /// and another [`DriveError`] if the store fails.
    pub async fn send_as(
        &self,
        run: RunId,
        blocks: Vec<ContentBlock>,
    ) -> Result<RunStream, DriveError> {
        check_run_id(&run)?;
        let head =
            self.enqueue_prompt(&run, blocks, Some(self.host.default_run_settings())).await?;
        self.open_stream(Some(run), head).await
    }

    /// Enqueues a text prompt without driving the lane, for the next worker, and returns the id of
    /// its run.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn enqueue(&self, text: &str) -> Result<RunId, StoreError> {
        self.enqueue_blocks(vec![ContentBlock::text(text)]).await
    }

    /// Enqueues a prompt of any content without driving the lane, like [`Session::enqueue`].
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn enqueue_blocks(&self, blocks: Vec<ContentBlock>) -> Result<RunId, StoreError> {
        self.enqueue_with(blocks, None).await
    }

    /// Enqueues a prompt under a run id that the caller generated, like [`Session::enqueue_with`].
    /// Enqueueing it again with the same id is idempotent: it remains one prompt, the first one.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the id is not a UUID or the store fails.
    pub async fn enqueue_as(
        &self,
        run: &RunId,
        blocks: Vec<ContentBlock>,
        settings: Option<RunSettings>,
    ) -> Result<(), StoreError> {
        check_run_id(run)?;
        self.enqueue_prompt(run, blocks, settings.map(Arc::new)).await.map(drop)
    }

    /// Enqueues a prompt with settings for this run only, like [`Session::enqueue_blocks`]; without
    /// settings those of the worker that drives it apply.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn enqueue_with(
        &self,
        blocks: Vec<ContentBlock>,
        settings: Option<RunSettings>,
    ) -> Result<RunId, StoreError> {
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        self.enqueue_prompt(&run, blocks, settings.map(Arc::new)).await?;
        Ok(run)
    }

    async fn enqueue_prompt(
        &self,
        run: &RunId,
        blocks: Vec<ContentBlock>,
        settings: Option<Arc<RunSettings>>,
    ) -> Result<Seq, StoreError> {
        let head = self.register_if_new().await?;
        let key = Arc::from(format!("prompt:{run}"));
        let body = InboxCommand::Prompt { run: run.clone(), blocks, settings };
        self.enqueue_command_with_key(key, body).await?;
        Ok(head)
    }

    /// Resumes the conversation where its log ends and returns the stream of the active run, or of
    /// the next queued one.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn resume(&self) -> Result<RunStream, DriveError> {
        let now = self.load_conversation().await?;
        let run = match now.run {
            Some(run) => Some(run.id),
            None => self.next_queued_run().await?,
        };
        self.open_stream(run, now.head).await
    }

    /// Follows the conversation from entry `after` on until a run ends, whichever process drives it
    /// and whatever starts it, such as the result of a sub-agent in the background. Dropping the
    /// stream does not cancel anything.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn follow_next_run(&self, after: Seq) -> Result<RunStream, DriveError> {
        let active = self.load_conversation_at(after).await?.run.map(|run| run.id);
        let position = StreamPosition { session: self.clone(), head: after };
        Box::pin(RunStream::new_following(active, position)).await
    }

    /// Returns the lanes of the sub-agents that work for the conversation now: those that a call
    /// waits for, and those in the background.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn working_children(&self) -> Result<Vec<LaneId>, DriveError> {
        let now = self.load_conversation().await?;
        let mut lanes = driver::outbox::pending_child_lanes(&self.lane, &now);
        lanes.extend(driver::outbox::background_child_lanes(&self.lane, &now));
        Ok(lanes)
    }

    /// The run that starts when the inbox is read: that of the first prompt that is not cancelled.
    async fn next_queued_run(&self) -> Result<Option<RunId>, StoreError> {
        let store = &self.host.agent().ports.store;
        if store.lane_info(self.lane.clone()).await?.is_none() {
            return Ok(None);
        }
        // Messages that cannot be read are reported by the driver of the lane.
        let waiting =
            store.read_inbox(self.lane.clone(), INBOX_PAGE_MESSAGES).await.unwrap_or_default();
        let ends = |run: &RunId| {
            waiting.iter().any(|message| {
                matches!(
                    &message.body,
                    InboxCommand::Cancel { run: Some(target) } | InboxCommand::Abort { run: Some(target), .. }
                        if target == run
                )
            })
        };
        let prompts = waiting.iter().filter_map(|message| match &message.body {
            InboxCommand::Prompt { run, .. } => Some(run),
            _ => None,
        });
        let all: Vec<&RunId> = prompts.collect();
        let next = all.iter().find(|run| !ends(run)).or(all.last());
        Ok(next.map(|run| (*run).clone()))
    }

    /// Drives the lane unless this process does already, and follows it from `head` on in both
    /// cases.
    async fn open_stream(&self, run: Option<RunId>, head: Seq) -> Result<RunStream, DriveError> {
        match self.drive_lane(run.clone(), head) {
            Some(stream) => Ok(stream),
            None => {
                // Boxed because few streams start this way, and its future would make all of them
                // larger.
                let position = StreamPosition { session: self.clone(), head };
                Box::pin(RunStream::new_following(run, position)).await
            }
        }
    }

    /// Drives the lane and returns the stream that owns it; `None` if this process drives it
    /// already.
    fn drive_lane(&self, run: Option<RunId>, head: Seq) -> Option<RunStream> {
        let reservation = self.host.reserve_lane(&self.lane)?;
        let (owner, items) = OwnerFeed::new(run.clone(), self.stream_options);
        let driving = tokio::spawn(reservation.drive(Some(owner)));
        let position = StreamPosition { session: self.clone(), head };
        Some(RunStream::new_owning(run, position, items, driving))
    }

    /// Returns the run that was started and has not ended, whichever process drives it.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn active_run(&self) -> Result<Option<RunId>, StoreError> {
        let lane = self.host.agent().ports.store.lane_info(self.lane.clone()).await?;
        Ok(lane.and_then(|lane| lane.active_run))
    }

    /// Returns the questions to humans of the child runs that the active run waits for, each with
    /// the lane that takes the answer; `None` while some of the child runs are still working.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn child_questions(&self) -> Result<Option<Vec<(LaneId, Question)>>, DriveError> {
        let now = self.load_conversation().await?;
        self.host.child_questions(&self.lane, &now).await
    }

    /// Deletes the conversation with everything stored for it, its sub-agents included.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] while a run of it is not finished, while a fork shares its history,
    /// or if the store fails.
    pub async fn delete(&self) -> Result<RemovedLanes, StoreError> {
        self.host.agent().ports.store.remove_lane(self.lane.clone()).await
    }

    /// Subscribes to everything after entry `after`, whichever process writes it.
    #[must_use]
    pub fn subscribe(&self, after: Seq) -> Subscription {
        let ports = self.host.agent().ports.clone();
        let live = self.host.lane_feed(&self.lane).subscribe(self.stream_options);
        Subscription::new(self.lane.clone(), ports, live, after)
    }

    /// Creates a new conversation that shares this one's history up to entry `at`, or up to the
    /// last closed round before it. Its spending is counted separately.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn fork(&self, at: Option<Seq>) -> Result<Session, DriveError> {
        self.fork_as(format!("conversation:{}", uuid::Uuid::now_v7()), at).await
    }

    /// Creates a new conversation on `lane`, which must not exist, like [`Session::fork`].
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the lane exists, the store fails or the log cannot be read.
    pub async fn fork_as(
        &self,
        lane: impl Into<LaneId>,
        at: Option<Seq>,
    ) -> Result<Session, DriveError> {
        let at = self.last_closed_round(at.unwrap_or(Seq::MAX)).await?;
        let child = lane.into();
        self.host.agent().ports.store.fork_lane(self.lane.clone(), at, child.clone()).await?;
        Ok(Self::new(Arc::clone(&self.host), child))
    }

    /// Loads the conversation as it was after entry `head`.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn load_conversation_at(&self, head: Seq) -> Result<Conversation, DriveError> {
        driver::load_conversation_at(&self.host.agent().ports, &self.lane, head).await
    }

    /// Returns the last entry up to `last` after which no round of tool calls is open, which is where
    /// a fork begins; 0 if there is none.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn last_closed_round(&self, last: Seq) -> Result<Seq, DriveError> {
        let mut subscriber = Conversation::default();
        let mut rest = 0;
        for entry in self.read_log().await? {
            if entry.seq > last {
                break;
            }
            subscriber.fold(&entry)?;
            if subscriber.has_no_open_round() {
                rest = entry.seq;
            }
        }
        Ok(rest)
    }

    /// Reads the whole log, oldest entry first.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn read_log(&self) -> Result<Vec<Entry>, DriveError> {
        let store = &self.host.agent().ports.store;
        let stored = store.read_log(self.lane.clone(), 0, usize::MAX).await?;
        let parse = |entry: &crate::ports::EncodedEntry| Entry::parse(entry.seq, &entry.line);
        Ok(stored.iter().map(parse).collect::<Result<_, _>>()?)
    }

    /// Reads entries after `after`, oldest first, at most `limit`.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn read_entries(&self, after: Seq, limit: usize) -> Result<Vec<Entry>, DriveError> {
        let store = &self.host.agent().ports.store;
        let stored = store.read_log(self.lane.clone(), after, limit).await?;
        let parse = |entry: &crate::ports::EncodedEntry| Entry::parse(entry.seq, &entry.line);
        Ok(stored.iter().map(parse).collect::<Result<_, _>>()?)
    }

    /// Reads the entries after `after` and before `until`.
    async fn read_entries_between(&self, after: Seq, until: Seq) -> Result<Vec<Entry>, DriveError> {
        let store = &self.host.agent().ports.store;
        let limit = usize::try_from(until.saturating_sub(after)).unwrap_or(usize::MAX);
        let stored = store.read_log(self.lane.clone(), after, limit).await?;
        let between = stored.iter().filter(|entry| entry.seq < until);
        let parse = |entry: &crate::ports::EncodedEntry| Entry::parse(entry.seq, &entry.line);
        Ok(between.map(parse).collect::<Result<_, _>>()?)
    }

    /// Loads the current state of the conversation by folding its log.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn load_conversation(&self) -> Result<Conversation, DriveError> {
        driver::load_conversation(&self.host.agent().ports, &self.lane).await
    }

    /// Returns the head of the lane; a new lane is registered with the affinity of this process.
    async fn register_if_new(&self) -> Result<Seq, StoreError> {
        let store = &self.host.agent().ports.store;
        match store.lane_info(self.lane.clone()).await? {
            Some(lane) => {
                // A conversation that gets tools of a folder belongs to that workspace from then
                // on.
                let affinity = self.host.agents().new_lane_affinity();
                if lane.affinity.workspace.is_empty() && !affinity.workspace.is_empty() {
                    store.register_lane(self.lane.clone(), affinity).await?;
                }
                Ok(lane.head)
            }
            None => {
                store
                    .register_lane(self.lane.clone(), self.host.agents().new_lane_affinity())
                    .await?;
                Ok(0)
            }
        }
    }

    async fn enqueue_command(&self, body: InboxCommand) -> Result<(), StoreError> {
        let key = Arc::from(uuid::Uuid::now_v7().to_string());
        self.enqueue_command_with_key(key, body).await.map(drop)
    }

    /// Enqueues a command under the caller's idempotency key: of several commands with one key the
    /// first is kept, and its message is returned.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn enqueue_command_with_key(
        &self,
        idempotency_key: Arc<str>,
        body: InboxCommand,
    ) -> Result<crate::ports::EnqueuedMessage, StoreError> {
        let message = OutboxMessage { idempotency_key, body };
        let store = &self.host.agent().ports.store;
        let enqueued = store.enqueue_message(self.lane.clone(), message).await?;
        self.host.notify_lane(&self.lane);
        Ok(enqueued)
    }
}

/// Checks that a run id is one that the tables of runs accept.
fn check_run_id(run: &RunId) -> Result<(), StoreError> {
    if run.is_uuid() {
        return Ok(());
    }
    let message = format!("the run id `{run}` is not a UUID; create a new one for every prompt");
    Err(StoreError::Invalid { message })
}
