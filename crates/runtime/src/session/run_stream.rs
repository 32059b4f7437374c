//! The stream of a run. How a run ends is in `run_outcome`.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{RunId, Seq};
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::wanted::{is_parked, is_waiting_for_children, is_waiting_in_background};

use super::Session;
use super::run_outcome::{
    RunOutcome, finishes_run, is_about_run, outcome_of, rejection_reason, started_run,
};
use crate::driver::{DriveError, DriveOutcome};
use crate::feed::{OwnerFeedReceiver, StreamItem, Subscription, SubscriptionError};
use crate::ports::StoreError;

/// The stream of a run: committed entries and live text. Call [`next`](Self::next) to follow the
/// run, or [`wait_for_end`](Self::wait_for_end) to wait for its outcome.
///
/// Dropping the stream that started the run cancels the run; see [`detach`](Self::detach).
pub struct RunStream {
    run: Option<RunId>,
    source: StreamSource,
    /// Items of an owned run that were taken from its feed and not yet given to the reader.
    buffered: VecDeque<StreamItem>,
    outcome: Option<RunOutcome>,
}

enum StreamSource {
    /// This stream owns the run: its reader sets the pace of the run, and dropping it cancels the
    /// run.
    Owning {
        position: StreamPosition,
        items: OwnerFeedReceiver,
        driving: JoinHandle<Result<DriveOutcome, DriveError>>,
    },
    /// Another task or process drives; this stream is one reader of many, and folds its own copy of
    /// the conversation.
    Following {
        session: Session,
        conversation: Box<Conversation>,
        items: Box<Subscription>,
        on_drop: DropAction,
    },
    /// Another driver took over; the stream is about to follow.
    StartingToFollow { position: StreamPosition, on_drop: DropAction },
    /// The driver came to rest; the stream is about to check whether it has seen all of the run.
    CheckingRest { position: StreamPosition, conversation: Box<Conversation> },
    /// No more items will come.
    Exhausted,
}

/// What happens to the run when its stream is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DropAction {
    /// The run continues.
    KeepRunning,
    /// The run is cancelled: the stream owned it before it began to wait for its child runs.
    CancelRun,
}

/// The position in a conversation at which a stream begins.
#[derive(Clone)]
pub(super) struct StreamPosition {
    pub(super) session: Session,
    pub(super) head: Seq,
}

impl StreamPosition {
    /// The entries between this position and an item. There are some if another process drove the
    /// lane after the position was recorded and before the item's driver claimed it.
    async fn missed_entries(&self, item: Option<&StreamItem>) -> Result<Vec<Entry>, DriveError> {
        match item {
            Some(StreamItem::Entry(entry)) if entry.seq > self.head.saturating_add(1) => {
                self.session.read_entries_between(self.head, entry.seq).await
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Moves the position past an item that was read.
    fn advance_past(&mut self, item: &StreamItem) {
        if let StreamItem::Entry(entry) = item {
            self.head = entry.seq;
        }
    }
}

impl RunStream {
    pub(super) fn new_owning(
        run: Option<RunId>,
        place: StreamPosition,
        items: OwnerFeedReceiver,
        driving: JoinHandle<Result<DriveOutcome, DriveError>>,
    ) -> Self {
        let source = StreamSource::Owning { position: place, items, driving };
        Self { run, source, buffered: VecDeque::new(), outcome: None }
    }

    pub(super) async fn new_following(
        run: Option<RunId>,
        position: StreamPosition,
    ) -> Result<Self, DriveError> {
        let source = StreamSource::start_following(position, DropAction::KeepRunning).await?;
        Ok(Self { run, source, buffered: VecDeque::new(), outcome: None })
    }

    /// Returns whether this process drives the run: it has the lane, or has it again as soon as the
    /// child runs of the run have ended.
    #[must_use]
    pub fn is_driven_here(&self) -> bool {
        match &self.source {
            StreamSource::Owning { .. } | StreamSource::CheckingRest { .. } => true,
            StreamSource::Following { session, on_drop, .. }
            | StreamSource::StartingToFollow {
                position: StreamPosition { session, .. },
                on_drop,
            } => *on_drop == DropAction::CancelRun || session.is_driven_here(),
            StreamSource::Exhausted => false,
        }
    }

    /// Returns the run that the stream belongs to, if it was known when the stream was opened.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Loads the conversation as it was before the first unread item of this stream, to fold the
    /// entries of the stream onto it. The log may have more entries by now.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn conversation_before(&self) -> Result<Conversation, DriveError> {
        match &self.source {
            StreamSource::Owning { position: place, .. }
            | StreamSource::CheckingRest { position: place, .. }
            | StreamSource::StartingToFollow { position: place, .. } => {
                place.session.load_conversation_at(place.head).await
            }
            StreamSource::Following { conversation, .. } => Ok(conversation.as_ref().clone()),
            StreamSource::Exhausted => Ok(Conversation::default()),
        }
    }

    /// Returns the next item; `None` when the run has ended, waits for a human or was handed over.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the driver of the run fails, the store fails or the log cannot
    /// be read.
    pub async fn next(&mut self) -> Result<Option<StreamItem>, DriveError> {
        while self.outcome.is_none() {
            match &mut self.source {
                StreamSource::Exhausted => return Ok(None),
                StreamSource::Owning { position: place, items, .. } => {
                    if self.buffered.is_empty() {
                        match items.recv().await {
                            Some(item) => self.buffered.push_back(item),
                            // Boxed so that a stream that waits for items does not hold the larger
                            // future.
                            None => Box::pin(self.on_driver_finished()).await?,
                        }
                        continue;
                    }
                    // Items were left out, and none was missed: the first one was read before.
                    if items.reads_only_end() {
                        if let Some(item) = self.buffered.pop_front() {
                            place.advance_past(&item);
                            return Ok(Some(self.observe_item(item)));
                        }
                        continue;
                    }
                    // Kept in `buffered` while the log is read: the reader may drop this future
                    // there.
                    let missed = Box::pin(place.missed_entries(self.buffered.front())).await?;
                    if missed.iter().any(|entry| finishes_run(self.run.as_ref(), entry)) {
                        self.follow_finished_run();
                        continue;
                    }
                    for entry in missed.into_iter().rev() {
                        self.buffered.push_front(StreamItem::Entry(Arc::new(entry)));
                    }
                    if let Some(item) = self.buffered.pop_front() {
                        place.advance_past(&item);
                        return Ok(Some(self.observe_item(item)));
                    }
                }
                StreamSource::CheckingRest { .. } => Box::pin(self.check_rest()).await?,
                StreamSource::StartingToFollow { position: place, on_drop } => {
                    self.source =
                        Box::pin(StreamSource::start_following(place.clone(), *on_drop)).await?;
                    self.check_child_questions().await?;
                }
                StreamSource::Following { session, items, .. } => {
                    tokio::select! {
                        biased;
                        item = items.next() => {
                            let item = item.map_err(to_drive_error)?;
                            self.fold_item(&item)?;
                            return Ok(Some(self.observe_item(item)));
                        }
                        () = session.host.wait_for_rest() => self.check_child_questions().await?,
                        () = session.host.wait_lease_expiry() => {
                            self.take_over_if_stalled();
                            self.check_child_questions().await?;
                        }
                    }
                }
            }
        }
        self.release_source();
        Ok(None)
    }

    /// Another process finished the run before this one claimed the lane: the stream reads the run
    /// from the log, whatever the driver does now.
    fn follow_finished_run(&mut self) {
        self.buffered.clear();
        let source = std::mem::replace(&mut self.source, StreamSource::Exhausted);
        if let StreamSource::Owning { position, .. } = source {
            let on_drop = DropAction::KeepRunning;
            self.source = StreamSource::StartingToFollow { position, on_drop };
        }
    }

    /// Tries to take over the lane after a whole lease without an item. If the owner is alive, the
    /// claim fails and the stream follows again.
    fn take_over_if_stalled(&mut self) {
        let StreamSource::Following { session, conversation, .. } = &self.source else { return };
        if is_waiting_for_children(conversation) || is_waiting_in_background(conversation) {
            return session.host.drive_lane_tree_if_due(&session.lane, conversation);
        }
        if let Some(mut ours) = session.drive_lane(self.run.clone(), conversation.head) {
            self.source = std::mem::replace(&mut ours.source, StreamSource::Exhausted);
        }
    }

    /// Sets the outcome to parked if all child runs that the run waits for wait for a human.
    async fn check_child_questions(&mut self) -> Result<(), DriveError> {
        let StreamSource::Following { session, conversation, .. } = &self.source else {
            return Ok(());
        };
        if !is_waiting_for_children(conversation) && !is_waiting_in_background(conversation) {
            return Ok(());
        }
        let asked = Box::pin(session.host.child_questions(&session.lane, conversation)).await?;
        if asked.is_some_and(|questions| !questions.is_empty()) {
            let own = conversation.run.iter().flat_map(Run::open_questions).cloned().collect();
            self.outcome = Some(RunOutcome::Parked(own));
        }
        Ok(())
    }

    /// Waits until the run has ended, waits for a human or was handed over, and returns the
    /// outcome.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the driver of the run fails, the store fails or the log cannot
    /// be read.
    pub async fn wait_for_end(mut self) -> Result<RunOutcome, DriveError> {
        while let Some(item) = self.next().await? {
            // The first entry has shown where the driver began. What follows needs no reader.
            if let (StreamSource::Owning { items, .. }, StreamItem::Entry(_)) = (&self.source, item)
                && self.buffered.is_empty()
            {
                items.read_only_end();
            }
        }
        Ok(self.outcome.take().unwrap_or(RunOutcome::HandedOver))
    }

    /// Drops the stream without cancelling the run, which continues.
    pub fn detach(mut self) {
        self.release_source();
    }

    /// Stops reading. The driver continues unread, because the lane may have more to do than this
    /// run.
    fn release_source(&mut self) {
        self.source = StreamSource::Exhausted;
    }

    /// Records the outcome if the item ends the run of this stream.
    fn observe_item(&mut self, item: StreamItem) -> StreamItem {
        match &item {
            StreamItem::RunEnded(ended)
                if self.run.as_ref().is_none_or(|run| *run == ended.run) =>
            {
                self.outcome = Some(RunOutcome::Finished(ended.as_ref().clone()));
            }
            StreamItem::Entry(entry) => {
                if let Some(reason) = rejection_reason(self.run.as_ref(), entry) {
                    self.outcome = Some(RunOutcome::Rejected(reason));
                }
            }
            StreamItem::RunEnded(_)
            | StreamItem::TextDelta { .. }
            | StreamItem::ThinkingDelta { .. }
            | StreamItem::ReplyEvent { .. }
            | StreamItem::CallProgress { .. }
            | StreamItem::CallSummary { .. }
            | StreamItem::HookMessage(_) => {}
        }
        item
    }

    /// Folds an item into the follower's own copy of the conversation, which shows when the run
    /// ends or waits.
    fn fold_item(&mut self, item: &StreamItem) -> Result<(), DriveError> {
        let (StreamSource::Following { conversation, .. }, StreamItem::Entry(entry)) =
            (&mut self.source, item)
        else {
            return Ok(());
        };
        let is_answered_later = is_waiting_in_background(conversation);
        conversation.fold(entry)?;
        // An entry may end the run that was resumed and start the next one, which is not ours.
        let is_over = finishes_run(self.run.as_ref(), entry);
        if self.run.is_none() && !is_over && is_answered_later {
            self.run = started_run(entry).cloned();
        }
        if is_over || is_parked(conversation) {
            self.outcome = outcome_of(self.run.as_ref(), conversation);
        }
        Ok(())
    }

    /// The driver finished, or never claimed the lane: then another process drives it, and the
    /// stream follows.
    async fn on_driver_finished(&mut self) -> Result<(), DriveError> {
        let StreamSource::Owning { driving, .. } = &mut self.source else { return Ok(()) };
        let rest = driving.await;
        let source = std::mem::replace(&mut self.source, StreamSource::Exhausted);
        let StreamSource::Owning { position: place, .. } = source else { return Ok(()) };
        // The driver was dropped with its runtime: the lane is free for the next worker.
        let Ok(rest) = rest else { return Ok(()) };
        if let Err(DriveError::Store(StoreError::Busy { .. } | StoreError::Fenced { .. })) = rest {
            self.source = StreamSource::StartingToFollow {
                position: place,
                on_drop: DropAction::KeepRunning,
            };
            return Ok(());
        }
        self.outcome = match rest? {
            DriveOutcome::Parked(waiting)
                if is_waiting_for_children(&waiting) && !is_parked(&waiting) =>
            {
                self.source = StreamSource::StartingToFollow {
                    position: place,
                    on_drop: DropAction::CancelRun,
                };
                None
            }
            DriveOutcome::Idle(conversation) | DriveOutcome::Parked(conversation) => {
                let conversation = Box::new(conversation);
                self.source = StreamSource::CheckingRest { position: place, conversation };
                None
            }
            DriveOutcome::HandedOver(_) => Some(RunOutcome::HandedOver),
        };
        Ok(())
    }

    /// Sets the outcome when the driver found nothing left to do. If another process drove the run
    /// before this one claimed the lane, the stream reads it from the log first. The source changes
    /// only after the log was read: the reader may drop this future there.
    async fn check_rest(&mut self) -> Result<(), DriveError> {
        let StreamSource::CheckingRest { position, conversation } = &self.source else {
            return Ok(());
        };
        let until = conversation.head.saturating_add(1);
        let missed = match conversation.head > position.head {
            true => position.session.read_entries_between(position.head, until).await?,
            false => Vec::new(),
        };
        self.outcome = outcome_of(self.run.as_ref(), conversation);
        let has_missed_run = missed.iter().any(|entry| is_about_run(self.run.as_ref(), entry));
        let source = std::mem::replace(&mut self.source, StreamSource::Exhausted);
        if let (true, StreamSource::CheckingRest { position, .. }) = (has_missed_run, source) {
            self.outcome = None;
            let on_drop = DropAction::KeepRunning;
            self.source = StreamSource::StartingToFollow { position, on_drop };
        }
        Ok(())
    }
}

impl StreamSource {
    async fn start_following(
        StreamPosition { session, head }: StreamPosition,
        on_drop: DropAction,
    ) -> Result<Self, DriveError> {
        let conversation = Box::new(session.load_conversation_at(head).await?);
        let items = Box::new(session.subscribe(head));
        Ok(Self::Following { session, conversation, items, on_drop })
    }
}

impl Drop for RunStream {
    /// Dropped after the end, it leaves the driver running; dropped before, the driver sees that
    /// the owner is gone and cancels the run. A run that waits for its child runs has no driver to
    /// do so, and is cancelled here.
    fn drop(&mut self) {
        if self.outcome.is_some() {
            return self.release_source();
        }
        let source = std::mem::replace(&mut self.source, StreamSource::Exhausted);
        let runtime = Handle::try_current();
        let run = self.run.clone();
        match (source, runtime) {
            (StreamSource::Owning { position: place, driving, items }, runtime) => {
                items.abandon();
                let Ok(runtime) = runtime else { return };
                runtime.spawn(async move {
                    let _ = driving.await;
                    place.session.cancel_if_waiting_for_children(run).await
                });
            }
            (
                StreamSource::Following { session, on_drop: DropAction::CancelRun, .. }
                | StreamSource::StartingToFollow {
                    position: StreamPosition { session, .. },
                    on_drop: DropAction::CancelRun,
                },
                Ok(runtime),
            ) => {
                runtime.spawn(async move { session.cancel_if_waiting_for_children(run).await });
            }
            (
                StreamSource::Following { .. }
                | StreamSource::CheckingRest { .. }
                | StreamSource::StartingToFollow { .. }
                | StreamSource::Exhausted,
                _,
            ) => {}
        }
    }
}

fn to_drive_error(error: SubscriptionError) -> DriveError {
    match error {
        SubscriptionError::Store(error) => DriveError::Store(error),
        SubscriptionError::Log(error) => DriveError::Log(error),
    }
}
