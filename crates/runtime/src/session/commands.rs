//! Commands to the run of a conversation: steering, answers, permissions, models, cancellation.

use std::sync::Arc;

use windlass_core::log::ids::{QuestionId, RunId};
use windlass_core::log::inbox::{AnswerSource, HistorySource, HumanAnswer, InboxCommand};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::history_message::HistoryMessage;
use windlass_core::message::transcript::Transcript;
use windlass_core::permission::{PermissionMode, PermissionUpdate};
use windlass_core::settings::model_change::ModelChange;

use super::{RunStream, Session, check_run_id};
use crate::driver::DriveError;
use crate::ports::StoreError;

impl Session {
    /// Sends a message to the active run, which gets it after its current round; on an idle lane it
    /// is a prompt.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn steer(&self, text: &str) -> Result<(), StoreError> {
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        self.steer_as(run, vec![ContentBlock::text(text)]).await
    }

    /// Sends a message of any content to the active run, like [`Session::steer`]. `run` is the id
    /// of the run that it starts on an idle lane; sending it again with the same id is idempotent.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the id is not a UUID or the store fails.
    pub async fn steer_as(&self, run: RunId, blocks: Vec<ContentBlock>) -> Result<(), StoreError> {
        check_run_id(&run)?;
        let key = Arc::from(format!("prompt:{run}"));
        self.enqueue_command_with_key(key, InboxCommand::Steer { run, blocks }).await.map(drop)
    }

    /// Answers a question of the run.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn answer(
        &self,
        question: QuestionId,
        answer: HumanAnswer,
    ) -> Result<(), StoreError> {
        self.enqueue_command(InboxCommand::answer(question, answer)).await
    }

    /// Answers a question of the run, like [`Session::answer`], and says who answered. The first
    /// answer wins; a later one is rejected, which the log says.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn answer_as(
        &self,
        question: QuestionId,
        answer: HumanAnswer,
        source: AnswerSource,
    ) -> Result<(), StoreError> {
        let answered_by = Some(source);
        self.enqueue_command(InboxCommand::Answer { question, answer, answered_by }).await
    }

    /// Changes the permissions of the conversation from now on: of the active run at once, and of
    /// later runs. A prompt that brings another mode than the one that was changed keeps its own.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn update_permissions(
        &self,
        updates: Vec<PermissionUpdate>,
    ) -> Result<(), StoreError> {
        self.register_if_new().await?;
        self.enqueue_command(InboxCommand::UpdatePermissions { updates }).await
    }

    /// Changes the permission mode from now on, like [`Session::update_permissions`].
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), StoreError> {
        self.update_permissions(vec![PermissionUpdate::SetMode { mode }]).await
    }

    /// Changes the model from the next model call on, and for later runs. A prompt that names
    /// another model than the one that was changed keeps its own.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn set_model(&self, change: ModelChange) -> Result<(), StoreError> {
        self.register_if_new().await?;
        self.enqueue_command(InboxCommand::SetModel { change: Arc::new(change) }).await
    }

    /// Puts the messages of `transcript` in the place of the conversation's own, between two runs.
    /// The log keeps what was there before. While a run is active or queued the command is rejected,
    /// which the log says.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn replace_history(
        &self,
        transcript: &Transcript,
        source: HistorySource,
    ) -> Result<(), StoreError> {
        self.register_if_new().await?;
        let messages = transcript.segments().iter().map(HistoryMessage::from).collect();
        self.enqueue_command(InboxCommand::ReplaceHistory { messages, source }).await
    }

    /// Requests a compaction before the next model call; [`Session::compact_now`] does it at once. The summary keeps what `instructions` say.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn compact(&self, instructions: Option<&str>) -> Result<(), StoreError> {
        let instructions = instructions.map(Arc::from);
        self.enqueue_command(InboxCommand::Compact { instructions, run: None }).await
    }

    /// Compacts the context at once, or after the runs that are queued, and returns the stream of
    /// the run that does it. The summary keeps what `instructions` say. The run is rejected if there
    /// is nothing to compact.
    ///
    /// # Errors
    ///
    /// Returns a [`DriveError`] if the store fails.
    pub async fn compact_now(&self, instructions: Option<&str>) -> Result<RunStream, DriveError> {
        let head = self.register_if_new().await?;
        let run = RunId::from(uuid::Uuid::now_v7().to_string());
        let instructions = instructions.map(Arc::from);
        self.enqueue_command(InboxCommand::Compact { instructions, run: Some(run.clone()) })
            .await?;
        self.open_stream(Some(run), head).await
    }

    /// Requests that the run ends at the next safe boundary; the active run if `run` is `None`.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn cancel(&self, run: Option<RunId>) -> Result<(), StoreError> {
        self.enqueue_command(InboxCommand::Cancel { run }).await
    }

    /// Cancels the run if it has no driver in this process because it waits for its child runs.
    pub(super) async fn cancel_if_waiting_for_children(
        &self,
        run: Option<RunId>,
    ) -> Result<(), StoreError> {
        if self.host.is_waiting_for_children(&self.lane) {
            self.cancel(run).await?;
        }
        Ok(())
    }

    /// Requests that the run ends now, interrupting every effect that may be interrupted; the
    /// active run if `run` is `None`.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn abort(&self, run: Option<RunId>) -> Result<(), StoreError> {
        self.enqueue_command(InboxCommand::Abort { run, partial_reply: None }).await
    }

    /// Aborts like [`Session::abort`], and keeps what a reader has seen of the reply in flight: the
    /// model sees it with the next prompt.
    ///
    /// # Errors
    ///
    /// Returns a [`StoreError`] if the store fails.
    pub async fn abort_keeping(
        &self,
        run: Option<RunId>,
        partial_reply: &str,
    ) -> Result<(), StoreError> {
        let partial_reply =
            Some(Arc::from(partial_reply)).filter(|text: &Arc<str>| !text.trim().is_empty());
        self.enqueue_command(InboxCommand::Abort { run, partial_reply }).await
    }
}
