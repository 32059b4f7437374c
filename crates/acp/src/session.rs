//! A session that is open: its prompts run one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    ContentBlock, CurrentModeUpdate, PromptResponse, SessionConfigOption, SessionModeState,
    SessionUpdate, StopReason,
};
use tokio::sync::{Mutex, RwLock, watch};
use windlass::core::permission::PermissionMode;
use windlass::core::settings::model_change::ModelChange;
use windlass::core::settings::run_settings::RunSettings;
use windlass::messages::MessageOptions;
use windlass::ports::SessionEndReason;
use windlass::{ConversationClient, Prompt};

use crate::approvals::EditorApprovals;
use crate::editor::Editor;
use crate::host::{HostError, HostedSession, PromptMeaning};
use crate::prompt_content::PromptContent;
use crate::session_options::{
    self, commands_update, config_options, find_mode, mode_id, mode_state,
};
use crate::turn::{Cancellation, Turn, internal};
use crate::update_projection::{UpdateProjection, text_chunk};

/// Maximum number of prompts of a session that wait for their turn.
const MAX_WAITING_PROMPTS: usize = 16;

/// How long a run may take to stop at a step when the editor is gone.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(3);

/// The code of the error about something that does not exist.
const RESOURCE_NOT_FOUND: i32 = -32002;

/// A session that is open.
pub(crate) struct OpenSession {
    id: String,
    editor: Editor,
    hosted: RwLock<Box<dyn HostedSession>>,
    /// Held while a prompt has its turn.
    turn: Mutex<TurnState>,
    waiting: AtomicUsize,
    cancellations: watch::Sender<u64>,
}

/// What the turns of a session know of each other.
#[derive(Debug, Default)]
struct TurnState {
    /// Whether the notes about the session were shown.
    has_shown_notes: bool,
}

impl OpenSession {
    pub(crate) fn new(id: String, editor: Editor, hosted: Box<dyn HostedSession>) -> Self {
        Self {
            id,
            editor,
            hosted: RwLock::new(hosted),
            turn: Mutex::default(),
            waiting: AtomicUsize::new(0),
            cancellations: watch::Sender::new(0),
        }
    }

    /// Returns the modes and options of the session.
    pub(crate) async fn choices(&self) -> (SessionModeState, Vec<SessionConfigOption>) {
        let hosted = self.hosted.read().await;
        (mode_state(hosted.as_ref()), config_options(hosted.as_ref()))
    }

    /// Shows the commands that a prompt can begin with.
    pub(crate) async fn show_commands(&self) -> Result<(), Error> {
        let commands = self.hosted.read().await.commands();
        self.show(commands_update(commands)).await
    }

    async fn show(&self, update: SessionUpdate) -> Result<(), Error> {
        self.editor.update(&self.id, update).await
    }

    async fn show_text(&self, text: &str) -> Result<(), Error> {
        self.show(SessionUpdate::AgentMessageChunk(text_chunk(text))).await
    }

    /// Shows the conversation so far.
    pub(crate) async fn show_history(&self) -> Result<(), Error> {
        let (client, folder) = {
            let hosted = self.hosted.read().await;
            (hosted.client(), hosted.workspace().to_owned())
        };
        let options = MessageOptions { prompts: true, ..MessageOptions::default() };
        let client = client.with_message_options(options);
        let mut projection = UpdateProjection::new(folder);
        for message in client.history().await.map_err(|error| internal(&error.to_string()))? {
            for update in projection.updates(&message) {
                self.show(update).await?;
            }
        }
        if client.has_unfinished_run().await.map_err(|error| internal(&error.to_string()))? {
            let note =
                "\n\n*The last prompt was interrupted. It continues with your next message.*";
            return self.show_text(note).await;
        }
        for update in projection.close_calls() {
            self.show(update).await?;
        }
        Ok(())
    }

    /// Watches for cancellations from now on.
    pub(crate) fn watch_cancellation(&self) -> Cancellation {
        Cancellation::new(self.cancellations.subscribe())
    }

    /// Runs a prompt when its turn has come.
    pub(crate) async fn prompt(
        &self,
        blocks: Vec<ContentBlock>,
        mut cancellation: Cancellation,
    ) -> Result<PromptResponse, Error> {
        let content = PromptContent::read(blocks)?;
        let _place = WaitingPlace::take(&self.waiting)?;
        let mut turn = tokio::select! {
            biased;
            () = cancellation.cancelled() => {
                return Ok(PromptResponse::new(StopReason::Cancelled));
            }
            turn = self.turn.lock() => turn,
        };
        if !std::mem::replace(&mut turn.has_shown_notes, true) {
            for note in self.hosted.read().await.notes() {
                self.show_text(&format!("*{note}*\n\n")).await?;
            }
        }
        self.run_prompt(content, cancellation).await
    }

    async fn run_prompt(
        &self,
        content: PromptContent,
        cancellation: Cancellation,
    ) -> Result<PromptResponse, Error> {
        let PromptContent { text, attached } = content;
        let hosted = self.hosted.read().await;
        let meaning = hosted.read_prompt(text).await.map_err(to_error)?;
        let (blocks, settings) = match meaning {
            PromptMeaning::Answer(answer) => {
                drop(hosted);
                self.show_text(&answer).await?;
                return Ok(PromptResponse::new(StopReason::EndTurn));
            }
            PromptMeaning::Prompt { blocks, settings } => (blocks, settings),
        };
        let folder = hosted.workspace().to_owned();
        let shown_calls = watch::Sender::default();
        let approvals = EditorApprovals {
            editor: self.editor.clone(),
            session: self.id.clone(),
            folder: folder.clone(),
            shown_calls: shown_calls.subscribe(),
        };
        let client = client_for_turn(hosted.client(), approvals);
        drop(hosted);
        let blocks: Vec<_> = attached.into_iter().chain(blocks).collect();
        let settings = RunSettings::from_settings(&settings);
        let stream = client.send_or_continue(Prompt::from(blocks), settings).await;
        let stream = stream.map_err(|error| internal(&error.to_string()))?;
        let projection = UpdateProjection::new(folder);
        let (editor, session) = (&self.editor, self.id.as_str());
        let context_tokens = 0;
        let turn = Turn { editor, session, projection, cancellation, shown_calls, context_tokens };
        turn.follow(stream).await
    }

    /// Cancels the turn in progress, and the prompts that wait.
    pub(crate) fn cancel(&self) {
        self.cancellations.send_modify(|count| *count += 1);
    }

    /// Changes the mode, of the turn in progress too.
    pub(crate) async fn set_mode(&self, id: &str) -> Result<(), Error> {
        let client = {
            let mut hosted = self.hosted.write().await;
            let mode =
                find_mode(hosted.as_ref(), id).ok_or_else(|| unknown_mode(hosted.as_ref(), id))?;
            hosted.set_mode(mode).map_err(to_error)?;
            (hosted.client(), mode)
        };
        self.change_running_mode(&client.0, client.1).await
    }

    async fn change_running_mode(
        &self,
        client: &ConversationClient,
        mode: PermissionMode,
    ) -> Result<(), Error> {
        let store_error = |error: windlass::QueryError| internal(&error.to_string());
        if client.has_unfinished_run().await.map_err(store_error)? {
            let changed = client.session().set_permission_mode(mode).await;
            changed.map_err(|error| internal(&error.to_string()))?;
        }
        Ok(())
    }

    /// Changes the model, of the turn in progress too.
    async fn set_model(&self, name: &str) -> Result<(), Error> {
        let (client, settings) = {
            let mut hosted = self.hosted.write().await;
            hosted.set_model(name).map_err(to_error)?;
            (hosted.client(), hosted.settings().clone())
        };
        let store_error = |error: windlass::QueryError| internal(&error.to_string());
        if client.has_unfinished_run().await.map_err(store_error)? {
            let RunSettings { models, thinking, .. } = RunSettings::from_settings(&settings);
            let changed = client.session().set_model(ModelChange { models, thinking }).await;
            changed.map_err(|error| internal(&error.to_string()))?;
        }
        Ok(())
    }

    /// Sets an option and returns all of them.
    pub(crate) async fn set_option(
        &self,
        id: &str,
        value: &str,
    ) -> Result<Vec<SessionConfigOption>, Error> {
        match id {
            session_options::MODE_OPTION => {
                self.set_mode(value).await?;
                let update = CurrentModeUpdate::new(value.to_owned());
                self.show(SessionUpdate::CurrentModeUpdate(update)).await?;
            }
            session_options::MODEL_OPTION => self.set_model(value).await?,
            _ => return Err(invalid(&format!("unknown option `{id}`; use mode or model"))),
        }
        Ok(self.choices().await.1)
    }

    /// Ends the use of the session by this process: its run stops at a step, and continues when
    /// the session is loaded again.
    pub(crate) async fn leave(&self) {
        let client = self.hosted.read().await.client();
        client.windlass().hand_over();
        let _ = tokio::time::timeout(HAND_OVER_TIMEOUT, self.turn.lock()).await;
        client.session().close(SessionEndReason::Other).await;
    }

    /// Cancels what the session does and ends its use by this process.
    pub(crate) async fn close(&self) {
        self.cancel();
        let _ = tokio::time::timeout(HAND_OVER_TIMEOUT, self.turn.lock()).await;
        self.leave().await;
    }
}

/// Returns the client with what a turn needs: live messages, and someone who approves.
fn client_for_turn(client: ConversationClient, approvals: EditorApprovals) -> ConversationClient {
    client
        .with_message_options(MessageOptions {
            partial_messages: true,
            tool_progress: true,
            ..MessageOptions::default()
        })
        .with_approval(move |request| approvals.clone().ask(request))
}

/// A prompt that waits or runs; it counts until it is dropped.
struct WaitingPlace<'a> {
    waiting: &'a AtomicUsize,
}

impl<'a> WaitingPlace<'a> {
    fn take(waiting: &'a AtomicUsize) -> Result<Self, Error> {
        let before = waiting.fetch_add(1, Ordering::SeqCst);
        let place = Self { waiting };
        match before {
            0..MAX_WAITING_PROMPTS => Ok(place),
            _ => Err(invalid(&format!(
                "more than {MAX_WAITING_PROMPTS} prompts wait; wait for their answers, or cancel them"
            ))),
        }
    }
}

impl Drop for WaitingPlace<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

fn unknown_mode(session: &dyn HostedSession, id: &str) -> Error {
    let known: Vec<String> = session.modes().into_iter().map(mode_id).collect();
    invalid(&format!("unknown mode `{id}`; use one of {}", known.join(", ")))
}

/// Returns an error about the parameters of a request.
pub(crate) fn invalid(reason: &str) -> Error {
    let mut error = Error::invalid_params();
    error.message = reason.to_owned();
    error
}

/// Returns the error of the protocol for an error of the host.
pub(crate) fn to_error(error: HostError) -> Error {
    let mut answer = match &error {
        HostError::NoSession(_) => Error::new(RESOURCE_NOT_FOUND, ""),
        HostError::LoginRequired(_) => Error::auth_required(),
        HostError::Invalid(_) => Error::invalid_params(),
        HostError::Failed(_) => Error::internal_error(),
    };
    answer.message = error.to_string();
    answer
}

/// A session that several tasks use.
pub(crate) type SharedSession = Arc<OpenSession>;
