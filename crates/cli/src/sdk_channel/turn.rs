//! One turn: the run of a prompt, followed to its result.

use serde_json::Value;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::RunId;
use windlass::core::log::record::Record;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::Question;
use windlass::core::run::review::Review;
use windlass::messages::{InitInfo, Message, MessageReader, ResultMessage};
use windlass::{RunOutcome, RunStream, Session, StreamItem};

use crate::messages;

/// A turn that is in progress.
pub(super) struct Turn {
    session: Session,
    /// The run; `None` until a sub-agent in the background starts it.
    run: Option<RunId>,
    /// The stream of the run; `None` while the run is parked.
    stream: Option<RunStream>,
    reader: MessageReader,
    /// The init frame, until it is written.
    init: Option<InitInfo>,
    /// Messages that wait for the init frame.
    held: Vec<Message>,
    /// The id of the user message.
    prompt_uuid: Option<String>,
    /// Where the user message came from.
    origin: Option<Value>,
}

/// What happens in a turn.
pub(super) enum TurnEvent {
    /// Messages, in order, and the questions that were asked with them.
    Progress { messages: Vec<Message>, questions: Vec<Question> },
    /// The run ended, or waits for an answer.
    Rested(RunOutcome),
}

/// What a turn is started with.
pub(super) struct TurnStart {
    pub(super) stream: RunStream,
    pub(super) reader: MessageReader,
    pub(super) run: Option<RunId>,
    pub(super) init: InitInfo,
    pub(super) prompt_uuid: Option<String>,
    pub(super) origin: Option<Value>,
}

impl Turn {
    pub(super) fn new(session: Session, start: TurnStart) -> Self {
        let TurnStart { stream, reader, run, init, prompt_uuid, origin } = start;
        let (stream, init) = (Some(stream), Some(init));
        Self { session, run, stream, reader, init, held: Vec::new(), prompt_uuid, origin }
    }

    /// The run of the turn, once it has started.
    pub(super) fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// Whether the turn only waits for a sub-agent in the background to start it.
    pub(super) fn is_waiting(&self) -> bool {
        self.run.is_none()
    }

    /// Gives the reader back, for the turn that follows.
    pub(super) fn into_reader(self) -> MessageReader {
        self.reader
    }

    /// The conversation as far as it was read.
    pub(super) fn conversation(&self) -> &Conversation {
        self.reader.conversation()
    }

    /// What the program has seen of the reply in flight.
    pub(super) fn partial_reply(&mut self) -> String {
        self.reader.projection().live_text().to_owned()
    }

    /// Whether the run waits for an answer, and is not driven.
    pub(super) fn is_parked(&self) -> bool {
        self.stream.is_none()
    }

    /// Continues a parked run.
    pub(super) async fn resume(&mut self) -> anyhow::Result<()> {
        if self.stream.is_none() {
            self.stream = Some(match self.run {
                Some(_) => self.session.resume().await?,
                None => {
                    let head = self.reader.conversation().head;
                    self.session.follow_next_run(head).await?
                }
            });
        }
        Ok(())
    }

    /// Waits for what happens next. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> anyhow::Result<TurnEvent> {
        let Some(stream) = &mut self.stream else {
            let messages = self.reader.next_of_sub_agents().await?;
            return Ok(TurnEvent::Progress { messages, questions: Vec::new() });
        };
        let item = tokio::select! {
            biased;
            item = stream.next() => item?,
            messages = self.reader.next_of_sub_agents() => {
                return Ok(TurnEvent::Progress { messages: messages?, questions: Vec::new() });
            }
        };
        match item {
            Some(item) => self.on_item(&item).await,
            None => self.on_rest().await,
        }
    }

    async fn on_item(&mut self, item: &StreamItem) -> anyhow::Result<TurnEvent> {
        let mut questions = Vec::new();
        let mut messages = Vec::new();
        if let StreamItem::Entry(entry) = item {
            if self.run.is_none() {
                self.run = started_run(entry).cloned();
            }
            if self.run.is_some() && begins_work(entry) {
                messages.extend(self.take_init());
            }
            questions = asked_questions(entry);
        }
        let read = self.reader.read(item).await?;
        let read: Vec<Message> =
            read.into_iter().map(|message| self.mark_replay(message)).collect();
        match self.init {
            // The init frame is the first of a turn.
            Some(_) if self.run.is_some() => self.held.extend(read),
            Some(_) | None => messages.extend(read),
        }
        Ok(TurnEvent::Progress { messages, questions })
    }

    /// Marks the prompt of this turn: the program has sent it itself.
    fn mark_replay(&self, mut message: Message) -> Message {
        if let Message::User(user) = &mut message
            && self.run.as_ref().is_some_and(|run| user.uuid == run.as_str())
        {
            user.is_replay = true;
        }
        message
    }

    async fn on_rest(&mut self) -> anyhow::Result<TurnEvent> {
        match self.stream.take() {
            Some(stream) => Ok(TurnEvent::Rested(stream.wait_for_end().await?)),
            None => Ok(TurnEvent::Rested(RunOutcome::HandedOver)),
        }
    }

    /// The init frame and what waits for it, if it was not written yet: a turn has exactly one.
    pub(super) fn take_init(&mut self) -> Vec<Message> {
        let Some(info) = self.init.take() else { return Vec::new() };
        let mut messages = vec![self.reader.projection().init_message(info)];
        messages.append(&mut self.held);
        messages
    }

    /// Whether frames about other things may be written: the init frame is the first of a turn.
    pub(super) fn allows_side_events(&self) -> bool {
        self.init.is_none() || self.is_waiting()
    }

    /// A frame about something beside the run.
    pub(super) fn system_message(&mut self, event: windlass::messages::SystemEvent) -> Message {
        self.reader.projection().system_message(event)
    }

    /// The result of the turn.
    pub(super) fn result(&mut self, outcome: &RunOutcome) -> ResultMessage {
        let lane = self.session.lane().clone();
        let describe = |_: &Conversation, _: &_| match outcome {
            RunOutcome::Rejected(reason) => vec![messages::command_rejection(reason)],
            RunOutcome::Finished(_) | RunOutcome::Parked(_) | RunOutcome::HandedOver => Vec::new(),
        };
        let result = self.reader.result(outcome, describe, &lane);
        self.with_prompt_fields(result)
    }

    /// The result of a turn that an error ended.
    pub(super) fn error_result(&mut self, error: &str) -> ResultMessage {
        let errors = vec![error.to_owned()];
        let result = self.reader.projection().unfinished_result("error", errors);
        self.with_prompt_fields(result)
    }

    fn with_prompt_fields(&self, mut result: ResultMessage) -> ResultMessage {
        let mut put = |name: &str, value: Value| _ = result.more.insert(name.to_owned(), value);
        if let Some(origin) = &self.origin {
            put("origin", origin.clone());
        }
        if let Some(uuid) = &self.prompt_uuid {
            put("user_message_uuid", Value::from(uuid.as_str()));
        }
        result
    }
}

/// Returns whether the work of a run begins with this entry: hooks have seen the prompt, and the
/// model is called or the run is over.
fn begins_work(entry: &Entry) -> bool {
    entry.records.iter().any(|record| {
        matches!(
            record,
            Record::ModelCallStarted { .. }
                | Record::ReviewCompleted { .. }
                | Record::RunFinished { .. }
                | Record::OwnerChanged { .. }
                | Record::CommandRejected { .. }
                | Record::ReviewRequested {
                    review: Review::Compaction { .. } | Review::Summary { .. },
                    ..
                }
        )
    })
}

fn started_run(entry: &Entry) -> Option<&RunId> {
    entry.records.iter().find_map(|record| match record {
        Record::RunStarted { run } => Some(run),
        _ => None,
    })
}

fn asked_questions(entry: &Entry) -> Vec<Question> {
    let asked = entry.records.iter().filter_map(|record| match record {
        Record::QuestionAsked { question } => Some(question.clone()),
        _ => None,
    });
    asked.collect()
}
