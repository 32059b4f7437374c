//! Questions to humans, of all runs, and their answers.

use std::sync::Arc;

use windlass_core::call::input_form::FormProblem;
use windlass_core::log::ids::{InboxMessageId, QuestionId};
use windlass_core::log::inbox::{AnswerSource, HumanAnswer, InboxCommand};
use windlass_core::log::input::Input;
use windlass_core::message::content_block::ToolUse;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::{Question, QuestionKind};
use windlass_core::stop::RunState;
use windlass_runtime::{DriveError, Session};

use crate::Windlass;
use crate::ports::RunInfo;
use crate::runs::RunQuery;

/// Unread messages that are searched for answers.
const SEARCHED_MESSAGES: usize = 4_096;

/// A question that a run waits for.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    /// The run that waits. Its conversation asks, and takes the answer.
    pub run: RunInfo,
    /// The question.
    pub question: Question,
    /// The conversation as it is.
    pub conversation: Arc<Conversation>,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerAcceptance {
    /// The answer is durable; the owner of the conversation acts on it.
    Accepted,
    /// The question has an answer already, or the run is being cancelled.
    Closed,
    /// The call is another one than the answer is about.
    CallChanged,
    /// The question takes other answers.
    NotAnAnswer,
    /// The answer does not fill in the form of the question.
    FormNotFilled(FormProblem),
}

impl OpenQuestion {
    /// Returns the call that the question is about.
    #[must_use]
    pub fn tool_use(&self) -> Option<&ToolUse> {
        let round = self.conversation.run.as_ref().and_then(Run::round)?;
        Some(&round.call(self.question.kind.call()?)?.tool_use)
    }

    /// Returns the hash of the input of the call that the question is about. An approval names it,
    /// so that no other call is approved.
    #[must_use]
    pub fn input_hash(&self) -> Option<String> {
        self.conversation.input_hash(self.question.kind.call()?)
    }

    /// Returns the folder in which the command of the call would start, if it is not the workspace
    /// itself.
    #[must_use]
    pub fn folder(&self) -> Option<&str> {
        let call = self.conversation.call(self.question.kind.call()?)?;
        Some(&**call.facts.subject.folder()).filter(|folder| !folder.is_empty())
    }

    /// Returns why a hook requires the approval.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        let call = self.conversation.call(self.question.kind.call()?)?;
        call.ask_reason.as_ref()?.reason.as_deref()
    }
}

impl Windlass {
    /// Lists the open questions of all runs, those of sub-agents included, at most those of
    /// `max_runs` runs; the newest run comes first.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or a log cannot be read.
    pub async fn open_questions(&self, max_runs: usize) -> Result<Vec<OpenQuestion>, DriveError> {
        let waiting = RunQuery { states: vec![RunState::WaitingOnHuman], ..RunQuery::default() };
        let mut found = Vec::new();
        for run in self.list_runs(&waiting, max_runs).await?.runs {
            found.extend(self.questions_of_run(&run).await?);
        }
        Ok(found)
    }

    /// Returns an open question of a run; `None` if it is not open.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn find_question(
        &self,
        run: &RunInfo,
        id: QuestionId,
    ) -> Result<Option<OpenQuestion>, DriveError> {
        let open = self.questions_of_run(run).await?;
        Ok(open.into_iter().find(|open| open.question.id == id))
    }

    /// Returns the open questions of a run.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn questions_of_run(&self, run: &RunInfo) -> Result<Vec<OpenQuestion>, DriveError> {
        let session = self.session(run.lane.clone());
        let conversation = Arc::new(session.load_conversation().await?);
        let active = conversation.run.iter().filter(|active| active.id == run.run);
        let open = active.flat_map(Run::open_questions).map(|question| OpenQuestion {
            run: run.clone(),
            question: question.clone(),
            conversation: Arc::clone(&conversation),
        });
        Ok(open.collect())
    }

    /// Returns the open questions of a run, without those whose answer is on its way.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails or the log cannot be read.
    pub async fn unanswered_questions(
        &self,
        run: &RunInfo,
    ) -> Result<Vec<OpenQuestion>, DriveError> {
        // Before the conversation: an answer that is read in between is in the conversation.
        let unread = self.host.store().read_inbox(run.lane.clone(), SEARCHED_MESSAGES).await?;
        let mut open = self.questions_of_run(run).await?;
        open.retain(|open| !unread.iter().any(|message| closes_question(&message.body, open)));
        Ok(open)
    }

    /// Answers a question once: further answers, also from other processes, are not accepted. For a
    /// question about a call `input_hash` says which input was shown.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails.
    pub async fn answer_question(
        &self,
        open: &OpenQuestion,
        input_hash: Option<&str>,
        answer: HumanAnswer,
        source: AnswerSource,
    ) -> Result<AnswerAcceptance, DriveError> {
        let current = open.input_hash();
        if current.as_deref() != input_hash {
            return Ok(AnswerAcceptance::CallChanged);
        }
        if !open.question.kind.accepts(&answer) {
            return Ok(AnswerAcceptance::NotAnAnswer);
        }
        if let Some(problem) = open.question.kind.find_form_problem(&answer) {
            return Ok(AnswerAcceptance::FormNotFilled(problem));
        }
        let store = self.host.store();
        let unread = store.read_inbox(open.run.lane.clone(), SEARCHED_MESSAGES).await?;
        if unread.iter().any(|message| closes_question(&message.body, open)) {
            return Ok(AnswerAcceptance::Closed);
        }
        let answer = match (&open.question.kind, current) {
            (QuestionKind::Approval { .. }, Some(hash)) => answer.for_input_hash(&hash),
            _ => answer,
        };
        let id = open.question.id;
        let body = InboxCommand::Answer { question: id, answer, answered_by: Some(source) };
        // Of two answers that are sent at the same moment the store keeps the first.
        let idempotency_key = Arc::from(format!("answer:{}:{id}", open.run.run));
        let session = self.session(open.run.lane.clone());
        let sent = session.enqueue_command_with_key(idempotency_key, body.clone()).await?;
        let unread = store.read_inbox(open.run.lane.clone(), SEARCHED_MESSAGES).await?;
        let kept = match unread.into_iter().find(|message| message.id == sent.message) {
            Some(message) => Some(message.body),
            // It was read meanwhile: the log has the answer that counted.
            None => find_read_message(&session, open, sent.message).await?,
        };
        Ok(match kept.is_none_or(|kept| kept == body) {
            true => AnswerAcceptance::Accepted,
            false => AnswerAcceptance::Closed,
        })
    }
}

/// Returns a message that an entry has read since the question was looked at.
async fn find_read_message(
    session: &Session,
    open: &OpenQuestion,
    id: InboxMessageId,
) -> Result<Option<InboxCommand>, DriveError> {
    for entry in session.read_entries(open.conversation.head, usize::MAX).await? {
        if let Input::CommandsReceived { messages } = entry.input
            && let Some(found) = messages.iter().find(|message| message.id == id)
        {
            return Ok(Some(found.body.clone()));
        }
    }
    Ok(None)
}

/// Returns whether an unread message makes a further answer pointless.
fn closes_question(command: &InboxCommand, open: &OpenQuestion) -> bool {
    match command {
        InboxCommand::Answer { question, .. } => *question == open.question.id,
        InboxCommand::Cancel { run } | InboxCommand::Abort { run, .. } => {
            run.as_ref().is_none_or(|run| *run == open.run.run)
        }
        _ => false,
    }
}
