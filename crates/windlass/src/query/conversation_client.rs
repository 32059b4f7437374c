//! A conversation of several prompts.

use std::sync::Arc;

use windlass_core::run::journal::Journal;
use windlass_core::settings::conversation_settings::Settings;
use windlass_messages::InitInfo;
use windlass_runtime::ports::SessionEndReason;
use windlass_runtime::{RunStream, Session};

use super::agent_builder::Prompt;
use super::approval::ApprovalCallback;
use super::message_stream::MessageStream;
use super::query_error::QueryError;
use crate::Windlass;
use crate::messages::{MessageOptions, MessageReader};

/// A conversation: prompts are answered one after the other, and the model knows the earlier ones.
/// Clones refer to the same conversation.
#[derive(Clone)]
pub struct ConversationClient {
    windlass: Windlass,
    session: Session,
    parts: Arc<ClientParts>,
}

/// What every run of the client is started with.
struct ClientParts {
    settings: Settings,
    init: InitInfo,
    approve: Option<ApprovalCallback>,
    messages: MessageOptions,
}

impl ConversationClient {
    pub(super) fn new(
        windlass: Windlass,
        session: Session,
        settings: Settings,
        init: InitInfo,
        approve: Option<ApprovalCallback>,
        messages: MessageOptions,
    ) -> Self {
        let session = session.with_stream_options(messages.to_stream_options());
        let parts = Arc::new(ClientParts { settings, init, approve, messages });
        Self { windlass, session, parts }
    }

    /// Returns the session: with it a program cancels, answers, steers and reads the log.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns the runtime behind the client.
    #[must_use]
    pub fn windlass(&self) -> &Windlass {
        &self.windlass
    }

    /// Returns the id with which another client continues this conversation.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.session.lane().session_id()
    }

    /// Sends a prompt and returns the messages of its run.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<MessageStream, QueryError> {
        let run = self.session.send_blocks(prompt.into().0).await?;
        self.follow(run).await
    }

    /// Sends a prompt, waits for the end of its run and returns the final text.
    ///
    /// # Errors
    ///
    /// Returns [`QueryError::NoResult`] if the run has no result, and another [`QueryError`] if it
    /// cannot be followed.
    pub async fn ask(&self, prompt: impl Into<Prompt>) -> Result<String, QueryError> {
        self.send(prompt).await?.text().await
    }

    /// Continues a run that was interrupted, by a crash for example, and returns its messages.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn resume(&self) -> Result<MessageStream, QueryError> {
        let run = self.session.resume().await?;
        self.follow(run).await
    }

    async fn follow(&self, run: RunStream) -> Result<MessageStream, QueryError> {
        let before = run.conversation_before().await?;
        let ClientParts { settings, init, approve, messages } = &*self.parts;
        let reader = MessageReader::new(&self.session, before, settings, *messages);
        Ok(MessageStream::start(run, self.session.clone(), reader, init.clone(), approve.clone()))
    }

    /// Ends the active run now.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn interrupt(&self) -> Result<(), QueryError> {
        Ok(self.session.abort(None).await?)
    }

    /// Compacts the context before the next model call; the summary keeps what `instructions` say.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn compact(&self, instructions: Option<&str>) -> Result<(), QueryError> {
        Ok(self.session.compact(instructions).await?)
    }

    /// Opens a copy of the conversation that goes its own way from here.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn fork(&self) -> Result<Self, QueryError> {
        let session = self.session.fork(None).await?;
        Ok(Self { session, ..self.clone() })
    }

    /// Returns the run journal that the model has written.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn journal(&self) -> Result<Journal, QueryError> {
        Ok(self.session.load_conversation().await?.journal)
    }

    /// Ends the use of the conversation by this program: hooks are told. It can be continued later.
    pub async fn close(self) {
        self.session.close(SessionEndReason::Other).await;
    }
}
