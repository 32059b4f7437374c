//! Reads a conversation as messages with their positions in the log, so that a reader can continue
//! after the last one it has seen, in any process.

use std::collections::VecDeque;
use std::str::FromStr;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{RunId, Seq, UnixMillis};
use windlass_core::log::record::Record;
use windlass_core::projection::active_state;
use windlass_core::run::conversation::{Conversation, RunEnd};
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::stop::{RunState, StopCause};
use windlass_messages::{Message, MessageProjection, ProjectionOptions, SystemEvent};
use windlass_runtime::feed::{StreamItem, Subscription, SubscriptionError};
use windlass_runtime::{DriveError, Session};

use super::message_reader::{MessageOptions, tool_progress};

/// Entries that are read at once for a page.
const PAGE_ENTRIES: usize = 256;

/// Where a message stands: the entry of the log, and the place among the items of that entry.
///
/// As text it is `ENTRY.PLACE`, for instance `12.0`. The text `12` means the end of entry 12.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogPosition {
    /// The entry.
    pub entry: Seq,
    /// The place among the items of the entry, from 0.
    pub place: u32,
}

/// Why a text is not a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a position is ENTRY.PLACE, such as 12.0")]
pub struct PositionError;

impl LogPosition {
    /// Returns the position after everything of an entry.
    #[must_use]
    pub fn end_of_entry(entry: Seq) -> Self {
        Self { entry, place: u32::MAX }
    }
}

impl std::fmt::Display for LogPosition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            u32::MAX => write!(f, "{}", self.entry),
            place => write!(f, "{}.{place}", self.entry),
        }
    }
}

impl FromStr for LogPosition {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (entry, place) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
        if !is_number(entry) || !place.is_none_or(is_number) {
            return Err(PositionError);
        }
        let entry = entry.parse().map_err(|_| PositionError)?;
        let place = place.map_or(Ok(u32::MAX), str::parse).map_err(|_| PositionError)?;
        Ok(Self { entry, place })
    }
}

/// An item of a conversation, as readers of the log see it.
#[derive(Debug, Clone, PartialEq)]
pub enum LogItem {
    /// A message that is recorded.
    Message {
        /// Where it stands.
        position: LogPosition,
        /// When it was recorded.
        at: UnixMillis,
        /// The run that it belongs to.
        run: Option<RunId>,
        /// The message.
        message: Box<Message>,
    },
    /// A run is in another state from here on.
    State {
        /// Where it stands.
        position: LogPosition,
        /// When the state changed.
        at: UnixMillis,
        /// The run.
        run: RunId,
        /// The new state.
        state: RunState,
        /// Why the run ended, if it did.
        cause: Option<StopCause>,
    },
    /// A message that is not recorded: a piece of the reply in flight.
    Live(Box<Message>),
}

/// A reader of the messages of one conversation, from a position on.
///
/// It reads this conversation alone: a sub-agent is a conversation of its own.
///
/// # Examples
///
/// ```
/// use windlass::messages::{LogItem, LogPosition, MessageLog, MessageOptions};
/// use windlass::{Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = Script::parse("when any\n  say \"Done.\"\n")?;
/// # let builder = Windlass::builder().scripted_model(script).store(MemoryStore::new());
/// let windlass = builder.start().await?;
/// let session = windlass.session("conversation:1");
/// session.send("Do it.").await?.wait_for_end().await?;
///
/// let options = MessageOptions { prompts: true, ..MessageOptions::default() };
/// let mut log = MessageLog::open(&session, LogPosition::default(), options).await?;
/// let page = log.read_page(10).await?;
/// let texts = page.iter().filter_map(|item| match item {
///     LogItem::Message { message, .. } => message.text(),
///     _ => None,
/// });
/// assert_eq!(texts.collect::<Vec<_>>(), ["Done."]);
/// # Ok(())
/// # }
/// ```
pub struct MessageLog {
    session: Session,
    options: MessageOptions,
    projection: MessageProjection,
    after: LogPosition,
    ready: VecDeque<LogItem>,
    /// Created for the first item that is waited for.
    live: Option<Subscription>,
}

impl MessageLog {
    /// Opens a conversation for the items after a position.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if there is no such conversation, the store fails or the log cannot
    /// be read.
    pub async fn open(
        session: &Session,
        after: LogPosition,
        options: MessageOptions,
    ) -> Result<Self, DriveError> {
        let settings = Settings::new(ModelSpec::with_defaults(""));
        // Ids of messages follow from the log alone.
        let projection = ProjectionOptions { nonce: String::new(), ..options.to_projection() };
        let start = Conversation::default();
        let projection = MessageProjection::new(session.lane(), start, &settings, projection);
        let session = session.clone().with_stream_options(options.to_stream_options());
        let mut log =
            Self { session, options, projection, after, ready: VecDeque::new(), live: None };
        log.skip_seen_entries().await?;
        Ok(log)
    }

    /// Projects the entries before the position, whose items were seen: results count what happened
    /// since their run began, wherever a reader continues.
    async fn skip_seen_entries(&mut self) -> Result<(), DriveError> {
        loop {
            let head = self.projection.conversation().head;
            let left = usize::try_from(self.after.entry.saturating_sub(head)).unwrap_or(usize::MAX);
            if left == 0 {
                return Ok(());
            }
            let entries = self.session.read_entries(head, left.min(PAGE_ENTRIES)).await?;
            if entries.is_empty() {
                return Ok(());
            }
            entries.iter().for_each(|entry| self.project(entry));
        }
    }

    /// Reads the next items that are recorded, at most `limit`; fewer at the end of the log.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn read_page(&mut self, limit: usize) -> Result<Vec<LogItem>, DriveError> {
        while self.ready.len() < limit {
            let head = self.projection.conversation().head;
            let entries = self.session.read_entries(head, PAGE_ENTRIES).await?;
            if entries.is_empty() {
                break;
            }
            entries.iter().for_each(|entry| self.project(entry));
        }
        let count = limit.min(self.ready.len());
        Ok(self.ready.drain(..count).collect())
    }

    /// Waits for the next item, whichever process writes it.
    ///
    /// # Errors
    ///
    /// Returns a [`SubscriptionError`] if the store fails or the log cannot be read.
    pub async fn next(&mut self) -> Result<LogItem, SubscriptionError> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(item);
            }
            let head = self.projection.conversation().head;
            let live = self.live.get_or_insert_with(|| self.session.subscribe(head));
            match live.next().await? {
                StreamItem::Entry(entry) => self.project(&entry),
                StreamItem::ReplyEvent { model_call, event } => {
                    let messages = self.projection.on_reply_event(model_call, &event);
                    self.add_live(messages);
                }
                StreamItem::CallProgress { call, elapsed_ms, progress } => {
                    let progress = tool_progress(call, elapsed_ms, &progress);
                    let message = self.projection.on_call_progress(progress);
                    self.add_live(message.into_iter().collect());
                }
                StreamItem::CallSummary { tool_use_ids, summary } => {
                    let message = self.projection.on_call_summary(&tool_use_ids, &summary);
                    self.add_live(vec![message]);
                }
                StreamItem::TextDelta { text, .. } => self.projection.on_text_delta(&text),
                StreamItem::ThinkingDelta { .. }
                | StreamItem::RunEnded(_)
                | StreamItem::HookMessage(_) => {}
            }
        }
    }

    /// Returns the conversation as far as it was read.
    #[must_use]
    pub fn conversation(&self) -> &Conversation {
        self.projection.conversation()
    }

    fn add_live(&mut self, messages: Vec<Message>) {
        let wanted = messages.into_iter().filter(|message| self.options.wants(message));
        self.ready.extend(wanted.map(|message| LogItem::Live(Box::new(message))));
    }

    /// Adds the items of an entry that come after the position.
    fn project(&mut self, entry: &Entry) {
        let before = RunStatus::of(self.projection.conversation());
        // An entry may end one run and start the next: each has messages of its own.
        let started = entry.records.iter().find_map(started_run);
        let (earlier, own) = match &started {
            Some(run) => self.projection.on_entry_until(entry, run),
            None => (Vec::new(), self.projection.on_entry(entry)),
        };
        let mut items = ItemsOfEntry { options: self.options, entry, items: Vec::new() };
        let now = self.projection.conversation();
        if let Some(run) = &started {
            items.add_messages(earlier, before.run.as_ref());
            items.add_end(find_end(now, before.run.as_ref()), &self.projection);
            items.add_messages(own, Some(run));
            items.add_end(find_end(now, Some(run)), &self.projection);
        } else {
            items.add_messages(own, before.run.as_ref());
            items.add_end(find_end(now, before.run.as_ref()), &self.projection);
        }
        items.add_change(&before, &RunStatus::of(now));
        let after = self.after;
        let is_new = |item: &LogItem| item.position().is_none_or(|position| position > after);
        self.ready.extend(items.items.into_iter().filter(is_new));
    }
}

impl LogItem {
    /// Returns where the item stands; `None` if it is not recorded.
    #[must_use]
    pub fn position(&self) -> Option<LogPosition> {
        match self {
            Self::Message { position, .. } | Self::State { position, .. } => Some(*position),
            Self::Live(_) => None,
        }
    }
}

fn started_run(record: &Record) -> Option<RunId> {
    match record {
        Record::RunStarted { run } => Some(run.clone()),
        _ => None,
    }
}

/// Returns the end of a run that was active, if it has ended.
fn find_end<'a>(now: &'a Conversation, run: Option<&RunId>) -> Option<&'a RunEnd> {
    let is_active = |run: &RunId| now.run.as_ref().is_some_and(|active| active.id == *run);
    let run = run.filter(|run| !is_active(run))?;
    now.last_run_end.as_ref().filter(|end| end.run == *run)
}

/// The active run and its state.
#[derive(PartialEq, Eq)]
struct RunStatus {
    run: Option<RunId>,
    state: Option<RunState>,
}

impl RunStatus {
    fn of(conversation: &Conversation) -> Self {
        let run = conversation.run.as_ref().map(|run| run.id.clone());
        let state = run.as_ref().map(|_| active_state(conversation));
        Self { run, state }
    }
}

/// Returns whether a message is there only for readers that follow a reply as it arrives. It has no
/// place of its own, so that places are the same for every reader.
fn is_live(message: &Message) -> bool {
    match message {
        Message::StreamEvent(_) | Message::Tombstone(_) => true,
        Message::System(system) => match &system.event {
            SystemEvent::Status { status, .. } => status.as_deref() == Some("requesting"),
            _ => false,
        },
        _ => false,
    }
}

/// Collects the items of one entry and numbers them.
struct ItemsOfEntry<'a> {
    options: MessageOptions,
    entry: &'a Entry,
    items: Vec<LogItem>,
}

impl ItemsOfEntry<'_> {
    fn next_position(&self) -> LogPosition {
        let placed = self.items.iter().filter(|item| item.position().is_some()).count();
        let place = u32::try_from(placed).unwrap_or(u32::MAX);
        LogPosition { entry: self.entry.seq, place }
    }

    fn add_messages(&mut self, messages: Vec<Message>, run: Option<&RunId>) {
        let options = self.options;
        for message in messages.into_iter().filter(|message| options.wants(message)) {
            if is_live(&message) {
                self.items.push(LogItem::Live(Box::new(message)));
                continue;
            }
            self.add_message(message, run);
        }
    }

    fn add_message(&mut self, message: Message, run: Option<&RunId>) {
        let (position, at) = (self.next_position(), self.entry.at);
        let (run, message) = (run.cloned(), Box::new(message));
        self.items.push(LogItem::Message { position, at, run, message });
    }

    /// Adds the result of a run that has ended, and its last state.
    fn add_end(&mut self, end: Option<&RunEnd>, projection: &MessageProjection) {
        if let Some(end) = end {
            let result = Message::Result(Box::new(projection.finished_result(end)));
            self.add_message(result, Some(&end.run));
            let (position, at) = (self.next_position(), self.entry.at);
            let (run, state) = (end.run.clone(), end.cause.run_state(end.text_presence()));
            let cause = Some(end.cause);
            self.items.push(LogItem::State { position, at, run, state, cause });
        }
    }

    fn add_change(&mut self, before: &RunStatus, now: &RunStatus) {
        if let (Some(run), Some(state), true) = (now.run.clone(), now.state, before != now) {
            let (position, at) = (self.next_position(), self.entry.at);
            self.items.push(LogItem::State { position, at, run, state, cause: None });
        }
    }
}
