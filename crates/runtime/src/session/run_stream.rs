//! What happens in a run, as it happens, and how it ended.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use windlass_core::conversation::{Conversation, Ended};
use windlass_core::ids::{RunId, Seq};
use windlass_core::input::Input;
use windlass_core::log::Entry;
use windlass_core::mail::MailBody;
use windlass_core::question::Question;
use windlass_core::record::Record;
use windlass_core::run::Run;
use windlass_core::wanted::{is_parked, waits_for_children};

use super::Session;
use crate::driver::{DriveError, Rest};
use crate::feed::{Item, OwnerItems, Subscription, SubscriptionError};
use crate::ports::StoreError;

/// The stream of a run. Read it to watch; ask it for the [`end`](Self::end) to wait.
pub struct RunStream {
    run: Option<RunId>,
    source: Source,
    /// Items of an owned run that were taken from its feed and not yet given to the reader.
    taken: VecDeque<Item>,
    ended: Option<End>,
}

enum Source {
    /// This stream's reader sets the pace of the run, and dropping it cancels the run.
    Owning { place: Place, items: OwnerItems, driving: JoinHandle<Result<Rest, DriveError>> },
    /// Somebody else drives; this is one reader of many, and keeps its own copy.
    Following {
        session: Session,
        conversation: Box<Conversation>,
        items: Box<Subscription>,
        on_drop: OnDrop,
    },
    /// Somebody else drives from here on; the stream is about to watch.
    Turning { place: Place, on_drop: OnDrop },
    /// Nothing more will come.
    Spent,
}

/// What becomes of the run when its stream is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnDrop {
    /// It goes on.
    GoesOn,
    /// It is cancelled: the stream owned it before it began to wait for its children.
    Cancels,
}

/// Where in a conversation a stream begins.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) session: Session,
    pub(super) head: Seq,
}

impl Place {
    /// The entries between this place and an item. There are some if another process drove the lane
    /// after the place was taken and before the item's driver claimed it.
    async fn missed(&self, item: Option<&Item>) -> Result<Vec<Entry>, DriveError> {
        match item {
            Some(Item::Entry(entry)) if entry.seq > self.head.saturating_add(1) => {
                self.session.entries_between(self.head, entry.seq).await
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Moves on past what was read.
    fn pass(&mut self, item: &Item) {
        if let Item::Entry(entry) = item {
            self.head = entry.seq;
        }
    }
}

/// How a run ended, or why it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It ended.
    Finished(Ended),
    /// It waits for a human. Without a question it is one of its children that asks:
    /// [`Session::asked_by_children`] says what.
    Parked(Vec<Question>),
    /// It never began, and this is why.
    Refused(Arc<str>),
    /// It was left for another process to go on with.
    HandedOver,
}

impl RunStream {
    pub(super) fn owning(
        run: Option<RunId>,
        place: Place,
        items: OwnerItems,
        driving: JoinHandle<Result<Rest, DriveError>>,
    ) -> Self {
        let source = Source::Owning { place, items, driving };
        Self { run, source, taken: VecDeque::new(), ended: None }
    }

    pub(super) async fn following(run: Option<RunId>, place: Place) -> Result<Self, DriveError> {
        let source = Source::follow(place, OnDrop::GoesOn).await?;
        Ok(Self { run, source, taken: VecDeque::new(), ended: None })
    }

    /// The run it is about.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// The conversation as it was before the first item of this stream that was not read yet.
    /// Whoever folds the entries of the stream begins with it: the log may be further by now.
    pub async fn conversation_before(&self) -> Result<Conversation, DriveError> {
        match &self.source {
            Source::Owning { place, .. } | Source::Turning { place, .. } => {
                place.session.conversation_at(place.head).await
            }
            Source::Following { conversation, .. } => Ok(conversation.as_ref().clone()),
            Source::Spent => Ok(Conversation::default()),
        }
    }

    /// The next item; `None` when the run has ended or waits.
    pub async fn next(&mut self) -> Result<Option<Item>, DriveError> {
        while self.ended.is_none() {
            match &mut self.source {
                Source::Spent => return Ok(None),
                Source::Owning { place, items, .. } => {
                    if self.taken.is_empty() {
                        match items.recv().await {
                            Some(item) => self.taken.push_back(item),
                            // A stream waits for items: it keeps no room for what comes after.
                            None => Box::pin(self.landed()).await?,
                        }
                        continue;
                    }
                    // Kept in `taken` while the log is read: a reader may stop waiting there.
                    for entry in Box::pin(place.missed(self.taken.front())).await?.into_iter().rev()
                    {
                        self.taken.push_front(Item::Entry(Arc::new(entry)));
                    }
                    if let Some(item) = self.taken.pop_front() {
                        place.pass(&item);
                        return Ok(Some(self.note(item)));
                    }
                }
                Source::Turning { place, on_drop } => {
                    self.source = Box::pin(Source::follow(place.clone(), *on_drop)).await?;
                    self.ask_for_children().await?;
                }
                Source::Following { session, items, .. } => {
                    tokio::select! {
                        biased;
                        item = items.next() => {
                            let item = item.map_err(narrow)?;
                            self.fold(&item)?;
                            return Ok(Some(self.note(item)));
                        }
                        () = session.child_rested() => self.ask_for_children().await?,
                        () = session.silence() => {
                            self.step_in();
                            self.ask_for_children().await?;
                        }
                    }
                }
            }
        }
        self.let_go();
        Ok(None)
    }

    /// Nothing happened for a whole lease: perhaps nobody is left to make it happen. If somebody
    /// is, the claim fails and we are back here.
    fn step_in(&mut self) {
        let Source::Following { session, conversation, .. } = &self.source else { return };
        if waits_for_children(conversation) {
            return session.look_after_family(conversation);
        }
        if let Some(mut ours) = session.drive(self.run.clone(), conversation.head) {
            self.source = std::mem::replace(&mut ours.source, Source::Spent);
        }
    }

    /// A run that waits for children who all wait for a human waits for a human.
    async fn ask_for_children(&mut self) -> Result<(), DriveError> {
        let Source::Following { session, conversation, .. } = &self.source else { return Ok(()) };
        if !waits_for_children(conversation) {
            return Ok(());
        }
        let asked = Box::pin(session.asked_by(conversation)).await?;
        if asked.is_some_and(|asked| !asked.is_empty()) {
            let own = conversation.run.iter().flat_map(Run::questions).cloned().collect();
            self.ended = Some(End::Parked(own));
        }
        Ok(())
    }

    /// Waits for the end.
    pub async fn end(mut self) -> Result<End, DriveError> {
        while self.next().await?.is_some() {}
        Ok(self.ended.take().unwrap_or(End::HandedOver))
    }

    /// Lets the run go on without this stream.
    pub fn detach(mut self) {
        self.let_go();
    }

    /// The lane may have more to do than this run: the driver goes on, unread.
    fn let_go(&mut self) {
        self.source = Source::Spent;
    }

    /// Looks whether the item ends the run this stream is about.
    fn note(&mut self, item: Item) -> Item {
        match &item {
            Item::Ended(ended) if self.run.as_ref().is_none_or(|run| *run == ended.run) => {
                self.ended = Some(End::Finished(ended.as_ref().clone()));
            }
            Item::Entry(entry) => {
                if let Some(why) = self.refusal(entry) {
                    self.ended = Some(End::Refused(why));
                }
            }
            Item::Ended(_) | Item::Text { .. } | Item::Thinking { .. } => {}
        }
        item
    }

    /// Why the prompt of this run was refused, if the entry says so.
    fn refusal(&self, entry: &Entry) -> Option<Arc<str>> {
        let Input::Received { mail } = &entry.input else { return None };
        let mine = mail.iter().find(|mail| match &mail.body {
            MailBody::Prompt { run, .. } => Some(run) == self.run.as_ref(),
            _ => false,
        })?;
        entry.records.iter().find_map(|record| match record {
            Record::MailRefused { mail, why } if *mail == mine.id => Some(why.clone()),
            _ => None,
        })
    }

    /// A follower keeps its own copy, and so knows when the run it follows ends or waits.
    fn fold(&mut self, item: &Item) -> Result<(), DriveError> {
        let (Source::Following { conversation, .. }, Item::Entry(entry)) = (&mut self.source, item)
        else {
            return Ok(());
        };
        conversation.fold(entry)?;
        let finished = entry.records.iter().any(|record| match record {
            Record::Finished { run, .. } => self.run.as_ref().is_none_or(|mine| mine == run),
            _ => false,
        });
        if finished || is_parked(conversation) {
            self.ended = end_of(self.run.as_ref(), conversation);
        }
        Ok(())
    }

    /// The driver came to rest, or never came to drive: then somebody else does, and we watch.
    async fn landed(&mut self) -> Result<(), DriveError> {
        let Source::Owning { driving, .. } = &mut self.source else { return Ok(()) };
        let rest = driving.await;
        let source = std::mem::replace(&mut self.source, Source::Spent);
        let Source::Owning { place, .. } = source else { return Ok(()) };
        // A driver that was dropped with its runtime has left the lane to whoever comes next.
        let Ok(rest) = rest else { return Ok(()) };
        if let Err(DriveError::Store(StoreError::Busy { .. } | StoreError::Fenced { .. })) = rest {
            self.source = Source::Turning { place, on_drop: OnDrop::GoesOn };
            return Ok(());
        }
        self.ended = match rest? {
            Rest::Parked(waiting) if waits_for_children(&waiting) && !is_parked(&waiting) => {
                self.source = Source::Turning { place, on_drop: OnDrop::Cancels };
                None
            }
            Rest::Idle(conversation) | Rest::Parked(conversation) => {
                end_of(self.run.as_ref(), &conversation)
            }
            Rest::HandedOver(_) => Some(End::HandedOver),
        };
        Ok(())
    }
}

impl Source {
    async fn follow(Place { session, head }: Place, on_drop: OnDrop) -> Result<Self, DriveError> {
        let conversation = Box::new(session.conversation_at(head).await?);
        let items = Box::new(session.subscribe(head));
        Ok(Self::Following { session, conversation, items, on_drop })
    }
}

impl Drop for RunStream {
    /// Dropped after the end, it leaves the driver to go on; dropped before, the driver finds its
    /// owner gone and cancels the run. A run that waits for its children has no driver to do so.
    fn drop(&mut self) {
        if self.ended.is_some() {
            return self.let_go();
        }
        let source = std::mem::replace(&mut self.source, Source::Spent);
        let runtime = Handle::try_current();
        let run = self.run.clone();
        match (source, runtime) {
            (Source::Owning { place, driving, items }, runtime) => {
                items.abandon();
                let Ok(runtime) = runtime else { return };
                runtime.spawn(async move {
                    let _ = driving.await;
                    place.session.cancel_waiting(run).await
                });
            }
            (
                Source::Following { session, on_drop: OnDrop::Cancels, .. }
                | Source::Turning { place: Place { session, .. }, on_drop: OnDrop::Cancels },
                Ok(runtime),
            ) => {
                runtime.spawn(async move { session.cancel_waiting(run).await });
            }
            (Source::Following { .. } | Source::Turning { .. } | Source::Spent, _) => {}
        }
    }
}

fn end_of(run: Option<&RunId>, conversation: &Conversation) -> Option<End> {
    let ended = conversation.last_end.as_ref();
    let ended = ended.filter(|ended| run.is_none_or(|run| ended.run == *run));
    match (ended, &conversation.run) {
        (Some(ended), active) if active.as_ref().is_none_or(|active| active.id != ended.run) => {
            Some(End::Finished(ended.clone()))
        }
        (_, Some(active)) => {
            let questions: Vec<Question> = active.questions().cloned().collect();
            (!questions.is_empty()).then_some(End::Parked(questions))
        }
        (_, None) => None,
    }
}

fn narrow(error: SubscriptionError) -> DriveError {
    match error {
        SubscriptionError::Store(error) => DriveError::Store(error),
        SubscriptionError::Log(error) => DriveError::Log(error),
    }
}
