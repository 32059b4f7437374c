//! The messages of one run, as a stream.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::stream::{FuturesUnordered, StreamExt};
use futures_util::{FutureExt, Stream};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use windlass_core::log::ids::{LaneId, QuestionId, RunId};
use windlass_core::log::inbox::{AnswerChannel, AnswerSource};
use windlass_core::log::record::Record;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::Question;
use windlass_messages::{InitInfo, Message, ResultMessage};
use windlass_runtime::feed::StreamItem;
use windlass_runtime::ports::BoxFuture;
use windlass_runtime::{RunOutcome, RunStream, Session};

use super::approval::{Approval, ApprovalCallback, ApprovalRequest, to_answer};
use super::query_error::QueryError;
use crate::messages::MessageReader;

/// Messages that a reader may leave unread before the run waits for it.
const QUEUE_MESSAGES: usize = 16;

/// The messages of one run. It is a [`Stream`] and ends with the message after which nothing comes,
/// a [`ResultMessage`]. Dropping it cancels the run.
pub struct MessageStream {
    interrupter: RunInterrupter,
    messages: mpsc::Receiver<Result<Message, QueryError>>,
    driving: JoinHandle<()>,
}

/// Interrupts the run of a [`MessageStream`], from another task than the one that reads it. Clones
/// interrupt the same run.
#[derive(Clone)]
pub struct RunInterrupter {
    session: Session,
    run: Option<RunId>,
    interrupted: Arc<Notify>,
}

impl RunInterrupter {
    /// Ends the run now, also while it waits for an approval. The stream delivers the result.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn interrupt(&self) -> Result<(), QueryError> {
        self.session.abort(self.run.clone()).await?;
        self.interrupted.notify_one();
        Ok(())
    }
}

impl MessageStream {
    pub(super) fn start(
        run: RunStream,
        session: Session,
        reader: MessageReader,
        init: InitInfo,
        approve: Option<ApprovalCallback>,
    ) -> Self {
        let (sender, messages) = mpsc::channel(QUEUE_MESSAGES);
        let interrupted = Arc::new(Notify::new());
        let follower = RunFollower {
            session: session.clone(),
            reader,
            approve,
            asked: BTreeSet::new(),
            has_answered: false,
            interrupted: Arc::clone(&interrupted),
            sender,
        };
        let interrupter = RunInterrupter { session, run: run.run().cloned(), interrupted };
        let driving = tokio::spawn(follower.follow_to_end(run, init));
        Self { interrupter, messages, driving }
    }

    /// Returns a handle that interrupts the run.
    #[must_use]
    pub fn interrupter(&self) -> RunInterrupter {
        self.interrupter.clone()
    }

    /// Returns the conversation: with it a program cancels the run, or reads what was recorded.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.interrupter.session
    }

    /// Returns the next message; `None` after the result.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the run cannot be followed; nothing comes after it.
    pub async fn try_next(&mut self) -> Result<Option<Message>, QueryError> {
        self.messages.recv().await.transpose()
    }

    /// Reads the run to its end and returns its result, whatever it is.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the run cannot be followed.
    pub async fn result(mut self) -> Result<ResultMessage, QueryError> {
        while let Some(message) = self.try_next().await? {
            if let Message::Result(result) = message {
                return Ok(*result);
            }
        }
        Err(QueryError::Incomplete)
    }

    /// Reads the run to its end and returns the final text.
    ///
    /// # Errors
    ///
    /// Returns [`QueryError::NoResult`] if the run has none, and another [`QueryError`] if it cannot
    /// be followed.
    pub async fn text(self) -> Result<String, QueryError> {
        let result = self.result().await?;
        match result {
            ResultMessage { ok: true, result: Some(text), .. } => Ok(text),
            other => Err(QueryError::NoResult(Box::new(other))),
        }
    }
}

impl Drop for MessageStream {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

impl Stream for MessageStream {
    type Item = Result<Message, QueryError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.poll_recv(context)
    }
}

/// A question with the conversation that takes its answer.
type AskedQuestion = (LaneId, Question, Conversation);

/// Follows a run, and asks the program.
struct RunFollower {
    session: Session,
    reader: MessageReader,
    approve: Option<ApprovalCallback>,
    asked: BTreeSet<(LaneId, QuestionId)>,
    /// Whether an answer was sent since the run was last resumed.
    has_answered: bool,
    /// Notified when the program interrupts the run.
    interrupted: Arc<Notify>,
    sender: mpsc::Sender<Result<Message, QueryError>>,
}

/// The answers that the program is working on.
type PendingAnswers = FuturesUnordered<BoxFuture<'static, (AskedQuestion, Approval)>>;

/// The reader of the messages is gone.
struct ReaderGone;

impl RunFollower {
    async fn follow_to_end(mut self, run: RunStream, init: InitInfo) {
        let init = self.reader.projection().init_message(init);
        if self.sender.send(Ok(init)).await.is_err() {
            return;
        }
        let last = match self.follow(run).await {
            Ok(Some(result)) => Ok(Message::Result(Box::new(result))),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        // A reader that is gone needs no result.
        let _ = self.sender.send(last).await;
    }

    /// Follows the run until it ends or waits for something that the program does not answer.
    /// Returns `None` if the reader is gone.
    async fn follow(&mut self, mut run: RunStream) -> Result<Option<ResultMessage>, QueryError> {
        loop {
            let mut pending = PendingAnswers::new();
            if self.forward_items(&mut run, &mut pending).await?.is_err() {
                return Ok(None);
            }
            let outcome = run.wait_for_end().await?;
            if let RunOutcome::Parked(questions) = &outcome {
                self.ask_parked(questions, &mut pending).await?;
                self.send_all_answers(&mut pending).await?;
                // Each time needs a new answer, so this ends.
                if std::mem::take(&mut self.has_answered) {
                    run = self.session.resume().await?;
                    continue;
                }
            }
            let lane = self.session.lane().clone();
            let waits =
                |_: &Conversation, _: &LaneId| vec!["the run waits for an answer".to_owned()];
            return Ok(Some(self.reader.result(&outcome, waits, &lane)));
        }
    }

    async fn forward_items(
        &mut self,
        run: &mut RunStream,
        pending: &mut PendingAnswers,
    ) -> Result<Result<(), ReaderGone>, QueryError> {
        loop {
            let messages = tokio::select! {
                biased;
                Some((question, approval)) = pending.next(), if !pending.is_empty() => {
                    self.send_answer(question, approval).await?;
                    Vec::new()
                }
                item = run.next() => match item? {
                    Some(item) => {
                        let messages = self.reader.read(&item).await?;
                        self.ask_recorded(&item, pending);
                        messages
                    }
                    None => return Ok(Ok(())),
                },
                messages = self.reader.next_of_sub_agents() => messages?,
            };
            for message in messages {
                if self.sender.send(Ok(message)).await.is_err() {
                    return Ok(Err(ReaderGone));
                }
            }
        }
    }

    /// Asks the program what an entry asks, while the rest of the run goes on.
    fn ask_recorded(&mut self, item: &StreamItem, pending: &mut PendingAnswers) {
        let StreamItem::Entry(entry) = item else { return };
        for record in &entry.records {
            if let Record::QuestionAsked { question } = record {
                let now = self.reader.conversation().clone();
                let lane = self.session.lane().clone();
                self.ask((lane, question.clone(), now), pending);
            }
        }
    }

    /// Asks the program what the parked run, or a sub-agent of it, waits for.
    async fn ask_parked(
        &mut self,
        questions: &[Question],
        pending: &mut PendingAnswers,
    ) -> Result<(), QueryError> {
        let now = self.session.load_conversation().await?;
        for question in questions {
            self.ask((self.session.lane().clone(), question.clone(), now.clone()), pending);
        }
        if questions.is_empty() {
            for (lane, question) in self.session.child_questions().await?.into_iter().flatten() {
                let now = self.session.sibling(lane.clone()).load_conversation().await?;
                self.ask((lane, question, now), pending);
            }
        }
        Ok(())
    }

    fn ask(&mut self, asked: AskedQuestion, pending: &mut PendingAnswers) {
        let Some(approve) = &self.approve else { return };
        let (lane, question, now) = &asked;
        if self.asked.insert((lane.clone(), question.id)) {
            let answering = approve(ApprovalRequest::from_question(lane, question, now));
            pending.push(answering.map(move |approval| (asked, approval)).boxed());
        }
    }

    /// Sends every answer that the program still gives, until it interrupts the run.
    async fn send_all_answers(&mut self, pending: &mut PendingAnswers) -> Result<(), QueryError> {
        let interrupted = Arc::clone(&self.interrupted);
        while !pending.is_empty() {
            tokio::select! {
                Some((question, approval)) = pending.next() => {
                    self.send_answer(question, approval).await?;
                }
                () = interrupted.notified() => {
                    // The interrupt is in the inbox, and takes effect when the run is resumed.
                    self.has_answered = true;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn send_answer(
        &mut self,
        (lane, question, now): AskedQuestion,
        approval: Approval,
    ) -> Result<(), QueryError> {
        let answer = to_answer(approval, &question, &now);
        self.has_answered = true;
        let source = AnswerSource::new(AnswerChannel::Callback);
        Ok(self.session.sibling(lane).answer_as(question.id, answer, source).await?)
    }
}
