//! A conversation of several prompts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use windlass_core::log::ids::RunId;
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::journal::Journal;
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::settings::run_settings::RunSettings;
use windlass_messages::{InitInfo, Message, MessageProjection, RunFacts};
use windlass_runtime::ports::{RunInfo, SessionEndReason};
use windlass_runtime::{RunStream, Session};
use windlass_tools::ToolContext;

use super::agent_builder::{MICROS_PER_USD, Prompt};
use super::approval::{Approval, ApprovalCallback, ApprovalRequest};
use super::message_stream::MessageStream;
use super::query_error::QueryError;
use crate::messages::{MessageOptions, MessageReader, read_run_facts};
use crate::{Rewind, Windlass};

/// A conversation: prompts are answered one after the other, and the model knows the earlier ones.
/// Clones refer to the same conversation.
#[derive(Clone)]
pub struct ConversationClient {
    windlass: Windlass,
    session: Session,
    parts: Arc<ClientParts>,
}

/// What every run of the client is started with.
#[derive(Clone)]
struct ClientParts {
    settings: Settings,
    init: InitInfo,
    approve: Option<ApprovalCallback>,
    messages: MessageOptions,
    /// What the tools of the client know about its files.
    tools: Option<ToolContext>,
}

/// What a conversation has used so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConversationUsage {
    /// Tokens of all model calls.
    pub tokens: TokenUsage,
    /// Their cost in dollars, as far as prices are known.
    pub total_cost_usd: f64,
}

/// How a run ended, and the facts behind it.
#[derive(Debug, Clone)]
pub struct RunExplanation {
    /// The run: its state, its stop cause, its usage.
    pub info: RunInfo,
    /// What its log says about it.
    pub facts: RunFacts,
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
        let parts = Arc::new(ClientParts { settings, init, approve, messages, tools: None });
        Self { windlass, session, parts }
    }

    /// Brings back the files that these tools have changed, in [`Self::rewind`]. A client that was
    /// opened with [`AgentBuilder::tools`](crate::AgentBuilder::tools) knows its tools.
    #[must_use]
    pub fn with_tool_context(self, tools: ToolContext) -> Self {
        self.with_parts(|parts| parts.tools = Some(tools))
    }

    /// Creates a client of a conversation of a runtime that the program has started itself, for
    /// example with a [`WindlassBuilder`](crate::WindlassBuilder). `settings` are those of its runs.
    #[must_use]
    pub fn for_session(windlass: Windlass, session: Session, settings: Settings) -> Self {
        let (init, messages) = (InitInfo::default(), MessageOptions::default());
        Self::new(windlass, session, settings, init, None, messages)
    }

    /// Asks this function about calls that need approval, like
    /// [`AgentBuilder::approve`](crate::AgentBuilder::approve). The settings of the runs must say
    /// that a human is available.
    #[must_use]
    pub fn with_approval<F, A>(self, callback: F) -> Self
    where
        F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Approval> + Send + 'static,
    {
        let callback: ApprovalCallback = Arc::new(move |request| Box::pin(callback(request)));
        self.with_parts(|parts| parts.approve = Some(callback))
    }

    /// Streams the messages that these options ask for.
    #[must_use]
    pub fn with_message_options(self, options: MessageOptions) -> Self {
        let client = self.with_parts(|parts| parts.messages = options);
        let session = client.session.clone().with_stream_options(options.to_stream_options());
        Self { session, ..client }
    }

    fn with_parts(self, change: impl FnOnce(&mut ClientParts)) -> Self {
        let mut parts = ClientParts::clone(&self.parts);
        change(&mut parts);
        Self { parts: Arc::new(parts), ..self }
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

    /// Sends a prompt with settings for its run only. If an earlier process did not finish its run,
    /// that run continues with the settings it has, and gets the prompt on its way.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn send_or_continue(
        &self,
        prompt: impl Into<Prompt>,
        settings: RunSettings,
    ) -> Result<MessageStream, QueryError> {
        let blocks = prompt.into().0;
        let run = match self.has_unfinished_run().await? {
            true => {
                let steering = RunId::from(uuid::Uuid::now_v7().to_string());
                self.session.steer_as(steering, blocks).await?;
                self.session.resume().await?
            }
            false => self.session.send_with(blocks, settings).await?,
        };
        self.follow(run).await
    }

    /// Returns whether a run was started that has not ended, by this process or an earlier one.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn has_unfinished_run(&self) -> Result<bool, QueryError> {
        Ok(self.session.active_run().await?.is_some())
    }

    /// Returns the messages of the conversation so far, oldest first. Prompts are among them if the
    /// [options](Self::with_message_options) ask for prompts.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::scripted::Script;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let script = Script::parse("when any\n  say \"You said: ${user}\"\n")?;
    /// let client = windlass::client().script(script).open().await?;
    /// client.ask("First.").await?;
    /// let history = client.history().await?;
    /// let texts: Vec<_> = history.iter().filter_map(|message| message.text()).collect();
    /// assert_eq!(texts, ["You said: First."]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn history(&self) -> Result<Vec<Message>, QueryError> {
        let log = self.session.read_log().await?;
        let ClientParts { settings, messages: options, .. } = &*self.parts;
        let (lane, before) = (self.session.lane(), Conversation::default());
        let mut projection =
            MessageProjection::new(lane, before, settings, options.to_projection());
        let messages = log.iter().flat_map(|entry| projection.on_entry(entry));
        Ok(messages.filter(|message| options.wants(message)).collect())
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
        let ClientParts { settings, init, approve, messages, .. } = &*self.parts;
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

    /// Compacts the context now, or after the runs that are queued, and returns the messages of the
    /// run that does it: the boundary with the tokens before and after, and a result. The result is
    /// an error if there is nothing to compact. The summary keeps what `instructions` say.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails.
    pub async fn compact_now(
        &self,
        instructions: Option<&str>,
    ) -> Result<MessageStream, QueryError> {
        let run = self.session.compact_now(instructions).await?;
        self.follow(run).await
    }

    /// Compacts the context before the next model call; [`Self::compact_now`] does it at once. The
    /// summary keeps what `instructions` say.
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

    /// Takes back the last prompt, or goes back to a message: the conversation ends there, and the files
    /// that tools have changed since are as they were. Nothing happens if something else has changed
    /// one of them. A file that only a process before this one has changed is not brought back, unless
    /// the [tools](Self::with_tool_context) have a state folder.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] while a run is not finished, if no message would be left, and if a file
    /// cannot be brought back.
    pub async fn rewind(&self, message: Option<&str>) -> Result<(), QueryError> {
        let rewind = match message {
            Some(message) => Rewind::to_message(&self.session, message).await?,
            None => Rewind::before_last_prompt(&self.session).await?,
        };
        rewind.check_conversation()?;
        if let Some(tools) = &self.parts.tools {
            let plan = rewind.plan_files(tools)?;
            rewind.rewind_files(tools, &plan)?;
        }
        Ok(rewind.rewind_conversation().await?)
    }

    /// Returns the run journal that the model has written.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn journal(&self) -> Result<Journal, QueryError> {
        Ok(self.session.load_conversation().await?.journal)
    }

    /// Returns what the conversation has used and spent so far, in all of its runs.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn usage(&self) -> Result<ConversationUsage, QueryError> {
        let now = self.session.load_conversation().await?;
        #[expect(clippy::cast_precision_loss, reason = "a sum of money people can read")]
        let usd = now.spent.usd_micros as f64 / MICROS_PER_USD;
        Ok(ConversationUsage { tokens: now.usage, total_cost_usd: usd })
    }

    /// Returns the files that tools have read, written or edited in this conversation, each once, in
    /// the order in which they were first touched.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn files_read(&self) -> Result<Vec<PathBuf>, QueryError> {
        let folder = Path::new(&self.parts.init.cwd);
        let mut files = Vec::new();
        for message in self.history().await? {
            let Message::User(user) = &message else { continue };
            let Some(result) = &user.tool_use_result else { continue };
            let named = result.pointer("/file/filePath").or_else(|| result.get("filePath"));
            let path = named.and_then(Value::as_str).map(|path| folder.join(path));
            files.extend(path.filter(|path| !files.contains(path)));
        }
        Ok(files)
    }

    /// Returns why a run ended as it did, from the log: failed calls and whether they were made good,
    /// what repeated, what fills the context. `None` for the newest run; nothing if there is none.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the store fails or the log cannot be read.
    pub async fn explain(&self, run: Option<&RunId>) -> Result<Option<RunExplanation>, QueryError> {
        let lane = self.session.lane().clone();
        let limit = if run.is_some() { usize::MAX } else { 1 };
        let runs = self.windlass.store().list_runs(Some(lane), limit).await?;
        let named = runs.into_iter().find(|info| run.is_none_or(|run| info.run == *run));
        let Some(info) = named else { return Ok(None) };
        let facts = read_run_facts(&self.session, &info.run).await?;
        Ok(Some(RunExplanation { info, facts }))
    }

    /// Ends the use of the conversation by this program: hooks are told. It can be continued later.
    pub async fn close(self) {
        self.session.close(SessionEndReason::Other).await;
    }
}
