//! Going back: the conversation to an earlier message, the files to what they were then.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_core::log::entry::Entry;
use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::HistorySource;
use windlass_core::run::conversation::Conversation;
use windlass_messages::{MessagePlace, MessageTree, find_message};
use windlass_runtime::ports::StoreError;
use windlass_runtime::{DriveError, Session};
use windlass_tools::{FileRewind, FileRewindError, RewindPoint, ToolContext};

/// An earlier message of a conversation, found by its id: the way back to it.
///
/// A prompt is taken back: the conversation ends before it, and the files are as they were before
/// its run. After any other message, the conversation ends with it.
///
/// ```
/// # async fn example(session: windlass::Session, tools: windlass::tools::ToolContext)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let rewind = windlass::Rewind::before_last_prompt(&session).await?;
/// let files = rewind.plan_files(&tools)?;
/// if files.conflicts().is_empty() {
///     rewind.rewind_files(&tools, &files)?;
///     rewind.rewind_conversation().await?;
/// }
/// # Ok(()) }
/// ```
pub struct Rewind {
    session: Session,
    /// The first prompt that is taken back.
    prompt: Option<String>,
    /// Where the conversation ends; `None` if nothing would be left.
    kept: Option<(MessagePlace, String)>,
    point: Option<RewindPoint>,
    /// Whether a run is active or queued.
    is_busy: bool,
}

/// Why a conversation cannot go back.
#[derive(Debug, thiserror::Error)]
pub enum RewindError {
    /// No message has the id.
    #[error("the conversation has no message {message}; a prompt has the id of its run")]
    UnknownMessage {
        /// The id.
        message: String,
    },
    /// The id is the beginning of several.
    #[error("{message} is the beginning of {count} prompts; give more of it")]
    AmbiguousMessage {
        /// The beginning.
        message: String,
        /// How many prompts it fits.
        count: usize,
    },
    /// There is no prompt.
    #[error("the conversation has no prompt to take back")]
    NoPrompt,
    /// Nothing would be left.
    #[error("{message} is the first prompt; start a new conversation instead")]
    FirstPrompt {
        /// The prompt.
        message: String,
    },
    /// A run is active or queued.
    #[error("a run of the conversation is not finished; cancel it or wait for its end")]
    RunNotFinished,
    /// Files are not as the tools of the conversation left them.
    #[error("changed since by something else: {}; nothing was rewound", list(.files))]
    FilesChanged {
        /// The files.
        files: Vec<PathBuf>,
    },
    /// A file could not be brought back.
    #[error("{0}")]
    File(String),
    /// The file history cannot be read.
    #[error(transparent)]
    History(#[from] FileRewindError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] DriveError),
    /// The store fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

impl Rewind {
    /// Takes back the last prompt of the conversation.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] if there is no prompt, or if the log cannot be read.
    pub async fn before_last_prompt(session: &Session) -> Result<Self, RewindError> {
        let log = session.read_log().await?;
        let tree = MessageTree::from_log(session.lane(), &log);
        let last = tree.current_prompts().first().map(|&prompt| prompt.to_owned());
        Self::find(session, &log, &tree, last.ok_or(RewindError::NoPrompt)?)
    }

    /// Goes back to the message with this id, or takes back the prompt with it. A prompt is found by
    /// a unique beginning of its id too.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] if no message or more than one prompt has the id, or if the log
    /// cannot be read.
    pub async fn to_message(session: &Session, message: &str) -> Result<Self, RewindError> {
        let log = session.read_log().await?;
        let tree = MessageTree::from_log(session.lane(), &log);
        let prompts = tree.current_prompts();
        let fitting: Vec<_> = prompts.iter().filter(|prompt| prompt.starts_with(message)).collect();
        let unknown = || RewindError::UnknownMessage { message: message.to_owned() };
        let found = match fitting.as_slice() {
            _ if message.is_empty() => return Err(unknown()),
            _ if tree.contains(message) => message.to_owned(),
            [prompt] => (**prompt).to_owned(),
            [] => return Err(unknown()),
            several => {
                let (message, count) = (message.to_owned(), several.len());
                return Err(RewindError::AmbiguousMessage { message, count });
            }
        };
        Self::find(session, &log, &tree, found)
    }

    fn find(
        session: &Session,
        log: &[Entry],
        tree: &MessageTree,
        message: String,
    ) -> Result<Self, RewindError> {
        let lane: &LaneId = session.lane();
        let is_prompt = tree.is_prompt(&message);
        let last = if is_prompt { tree.parent(&message) } else { Some(message.as_str()) };
        let kept = last.and_then(|last| Some((find_message(lane, log, last)?, last.to_owned())));
        let prompt = match is_prompt {
            true => Some(message),
            false => kept.as_ref().and_then(|(place, _)| place.next_prompt.clone()),
        };
        let mut now = Conversation::default();
        for entry in log {
            now.fold(entry).map_err(DriveError::from)?;
        }
        let is_busy = now.run.is_some() || !now.prompt_queue.is_empty();
        let point = prompt.as_deref().and_then(|prompt| RewindPoint::find(log, prompt));
        Ok(Self { session: session.clone(), prompt, kept, point, is_busy })
    }

    /// Returns the id of the first prompt that is taken back, if there is one.
    #[must_use]
    pub fn prompt(&self) -> Option<&str> {
        self.prompt.as_deref()
    }

    /// Checks that the conversation can go back.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] while a run is not finished, and if no message would be left.
    pub fn check_conversation(&self) -> Result<(), RewindError> {
        self.kept().map(drop)
    }

    fn kept(&self) -> Result<&(MessagePlace, String), RewindError> {
        if self.is_busy {
            return Err(RewindError::RunNotFinished);
        }
        let message = || self.prompt.clone().unwrap_or_default();
        self.kept.as_ref().ok_or_else(|| RewindError::FirstPrompt { message: message() })
    }

    /// Makes the conversation end before the prompt or with the message, from its next run on. The
    /// log keeps what came after it.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] while a run is not finished, if no message would be left, or if the
    /// store fails.
    pub async fn rewind_conversation(&self) -> Result<(), RewindError> {
        let (place, last) = self.kept()?;
        let source = HistorySource::Rewound { at: place.end, last_message: Arc::from(&**last) };
        Ok(self.session.replace_history(&place.transcript, source).await?)
    }

    /// Finds out what it takes to bring back the files that the tools of the conversation have
    /// changed since.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] while a run is not finished, or if the file history cannot be read.
    pub fn plan_files(&self, tools: &ToolContext) -> Result<FileRewind, RewindError> {
        match self.point {
            _ if self.is_busy => Err(RewindError::RunNotFinished),
            None => Ok(FileRewind::default()),
            Some(point) => Ok(tools.plan_file_rewind(self.session.lane(), point)?),
        }
    }

    /// Brings back the files, unless something else has changed one of them since.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] if a file was changed since, or cannot be written.
    pub fn rewind_files(&self, tools: &ToolContext, plan: &FileRewind) -> Result<(), RewindError> {
        match plan.conflicts() {
            [] => self.overwrite_files(tools, plan),
            files => Err(RewindError::FilesChanged { files: files.to_vec() }),
        }
    }

    /// Brings back the files, whatever else has changed them since.
    ///
    /// # Errors
    ///
    /// Returns a [`RewindError`] if a file cannot be written.
    pub fn overwrite_files(
        &self,
        tools: &ToolContext,
        plan: &FileRewind,
    ) -> Result<(), RewindError> {
        tools
            .rewind_files(self.session.lane(), plan)
            .map_err(|error| RewindError::File(format!("{}; {}", error.message, error.hint)))
    }
}
