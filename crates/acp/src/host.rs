//! What the protocol needs from the program around it: sessions with their settings, models and
//! commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::core::message::content_block::ContentBlock;
use windlass::core::permission::PermissionMode;
use windlass::ports::BoxFuture;
use windlass::{ConversationClient, Settings};

use crate::editor::EditorFiles;

/// Why the host could not do what the editor asked for. Each message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no such session.
    #[error("no session `{0}`; list the sessions, or start a new one")]
    NoSession(String),
    /// No model can be called before the user has done something.
    #[error("{0}")]
    LoginRequired(String),
    /// The request is not valid.
    #[error("{0}")]
    Invalid(String),
    /// Something failed.
    #[error("{0}")]
    Failed(String),
}

/// Opens sessions for an editor.
pub trait EditorHost: Send + Sync + 'static {
    /// Opens a new session or an existing one.
    fn open(
        &self,
        request: OpenRequest,
    ) -> BoxFuture<'_, Result<Box<dyn HostedSession>, HostError>>;

    /// Lists sessions, newest first.
    fn list(&self, filter: SessionFilter) -> BoxFuture<'_, Result<Vec<SessionEntry>, HostError>>;

    /// Deletes a session with everything stored for it.
    fn delete(&self, session_id: String) -> BoxFuture<'_, Result<(), HostError>>;

    /// Returns how a user can make a model available.
    fn login_methods(&self) -> Vec<LoginMethod>;

    /// Checks that a model can be called.
    fn check_login(&self) -> BoxFuture<'_, Result<(), HostError>>;

    /// Returns the version of the program.
    fn version(&self) -> String;
}

/// A session that is open: a conversation with the settings of its next run.
pub trait HostedSession: Send + Sync {
    /// Returns the client of the conversation, with the settings of its next run.
    fn client(&self) -> ConversationClient;

    /// Returns the settings of the next run.
    fn settings(&self) -> &Settings;

    /// Returns the folder in which tools work.
    fn workspace(&self) -> &Path;

    /// Returns the modes that can be chosen.
    fn modes(&self) -> Vec<PermissionMode>;

    /// Changes the mode of the next run.
    ///
    /// # Errors
    ///
    /// Returns a [`HostError`] if the mode may not be used here.
    fn set_mode(&mut self, mode: PermissionMode) -> Result<(), HostError>;

    /// Returns the models that can be chosen.
    fn models(&self) -> Vec<ModelChoice>;

    /// Changes the model of the next run.
    ///
    /// # Errors
    ///
    /// Returns a [`HostError`] if there is no such model, or it cannot be called.
    fn set_model(&mut self, name: &str) -> Result<(), HostError>;

    /// Returns the commands that a prompt can begin with.
    fn commands(&self) -> Vec<CommandChoice>;

    /// Finds out what a prompt of text means: commands are answered or expanded, mentioned files
    /// are attached.
    fn read_prompt(&self, text: String) -> BoxFuture<'_, Result<PromptMeaning, HostError>>;

    /// Returns what the user should know about the session, such as parts of it that are missing.
    fn notes(&self) -> Vec<String>;
}

/// What a prompt means.
#[derive(Debug)]
pub enum PromptMeaning {
    /// A prompt for the model, with the settings of its run.
    Prompt {
        /// The content.
        blocks: Vec<ContentBlock>,
        /// The settings.
        settings: Box<Settings>,
    },
    /// It was a command, and this is the answer.
    Answer(String),
}

/// Which session to open, and with what.
pub struct OpenRequest {
    /// The folder in which tools work.
    pub folder: PathBuf,
    /// Further folders in which they may.
    pub more_folders: Vec<PathBuf>,
    /// Which session.
    pub target: OpenTarget,
    /// The MCP servers that the editor is configured with.
    pub mcp_servers: Vec<McpServerConfig>,
    /// The files of the editor, if it offers them.
    pub files: Option<Arc<EditorFiles>>,
}

/// Which session to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenTarget {
    /// A new one, with this id.
    New(String),
    /// One that exists.
    Existing(String),
}

/// An MCP server that the editor is configured with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpServerConfig {
    /// A program that is started.
    Stdio {
        /// The name of the server.
        name: String,
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: Vec<(String, String)>,
    },
    /// A server that is reached over HTTP or server-sent events.
    Remote {
        /// The name of the server.
        name: String,
        /// `http` or `sse`.
        transport: &'static str,
        /// The address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

impl McpServerConfig {
    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Stdio { name, .. } | Self::Remote { name, .. } => name,
        }
    }
}

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only those of this folder.
    pub folder: Option<PathBuf>,
    /// How many of the newest to leave out.
    pub skip: usize,
    /// Maximum number of sessions.
    pub limit: usize,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// Its id.
    pub session_id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its last prompt.
    pub title: Option<String>,
    /// When something last happened in it, as an ISO 8601 time.
    pub updated_at: Option<String>,
}

/// A way to make a model available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginMethod {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What the user has to do.
    pub description: String,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// The name by which it is chosen.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// What to expect of it.
    pub description: Option<String>,
}

/// A command that a prompt can begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChoice {
    /// The name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What to type after it.
    pub hint: Option<String>,
}
