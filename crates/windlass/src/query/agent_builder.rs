//! The builder of queries and clients.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::permission::PermissionMode;
use windlass_core::settings::conversation_settings::{Effort, Settings};
use windlass_messages::ResultMessage;
use windlass_runtime::ports::{Hooks, Model, Store, Tool};
#[cfg(feature = "scripted")]
use windlass_scripted::Script;

use super::approval::{Approval, ApprovalCallback, ApprovalRequest};
use super::conversation_client::ConversationClient;
use super::hook_closures::{HookClosures, HookEvent, HookReply};
use super::message_stream::MessageStream;
use super::query_error::QueryError;
use crate::agent_definition::AgentDefinition;
use crate::messages::MessageOptions;
use crate::{Windlass, WindlassBuilder};

/// Micro-dollars per dollar.
pub(super) const MICROS_PER_USD: f64 = 1_000_000.0;

/// A prompt: text, or blocks of text, images and documents.
#[derive(Debug, Clone)]
pub struct Prompt(pub(super) Vec<ContentBlock>);

/// The builder of a client, which has no prompt yet.
#[derive(Debug, Clone, Copy)]
pub struct NoPrompt;

/// One prompt with its options; from [`query`](crate::query).
pub type Query = AgentBuilder<Prompt>;

/// A conversation with its options; from [`client`](crate::client).
pub type ClientBuilder = AgentBuilder<NoPrompt>;

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self(vec![ContentBlock::text(text)])
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self(blocks)
    }
}

/// The options of a [`Query`] or of a client.
///
/// A method that is given something invalid does not fail itself: starting returns the first such
/// error.
pub struct AgentBuilder<P> {
    pub(super) prompt: P,
    pub(super) builder: WindlassBuilder,
    pub(super) model: ModelChoice,
    pub(super) api_key: Option<String>,
    pub(super) tools: Vec<String>,
    pub(super) cwd: PathBuf,
    pub(super) has_store: bool,
    pub(super) approve: Option<ApprovalCallback>,
    pub(super) session: Option<String>,
    pub(super) messages: MessageOptions,
    pub(super) hooks: HookClosures,
}

/// The model that answers.
pub(super) enum ModelChoice {
    /// That of the first provider with a key.
    ByKey,
    /// A model of a provider.
    Named(String),
    /// A model that was given to the builder.
    Given,
}

impl AgentBuilder<Prompt> {
    pub(super) fn with_prompt(prompt: Prompt) -> Self {
        Self::new(prompt)
    }

    /// Starts the run and returns its messages.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if an option is not valid, if the model has no key, or if the store
    /// fails.
    pub async fn stream(self) -> Result<MessageStream, QueryError> {
        let (prompt, client) = Box::pin(self.start()).await?;
        client.send(prompt).await
    }

    /// Starts the run, waits for its end and returns the final text.
    ///
    /// # Errors
    ///
    /// Returns [`QueryError::NoResult`] if the run has no result, and another [`QueryError`] if it
    /// cannot be started or followed.
    pub async fn text(self) -> Result<String, QueryError> {
        self.stream().await?.text().await
    }

    /// Starts the run, waits for its end and returns its result message, whatever it is.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if the run cannot be started or followed.
    pub async fn result(self) -> Result<ResultMessage, QueryError> {
        self.stream().await?.result().await
    }

    /// Starts the run and returns the answer as a value of type `T`: the model must answer with data
    /// that fits the schema of the type.
    ///
    /// # Errors
    ///
    /// Returns [`QueryError::NoResult`] if no answer fitted, [`QueryError::Answer`] if the data
    /// cannot be read as a `T`, and another [`QueryError`] if the run cannot be started or followed.
    ///
    /// # Examples
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// # use windlass::scripted::Script;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Weather {
    ///     celsius: i32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let script = Script::parse("when any\n  call StructuredOutput {\"celsius\": 21}\n")?;
    /// let weather: Weather = windlass::query("How warm is it?").script(script).extract().await?;
    /// assert_eq!(weather.celsius, 21);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn extract<T: DeserializeOwned + JsonSchema>(self) -> Result<T, QueryError> {
        let schema = schemars::schema_for!(T);
        let schema = serde_json::to_string(&schema).map_err(QueryError::Answer)?;
        let result = self.output_schema(&schema).result().await?;
        match result.structured_output.clone().filter(|_| result.ok) {
            Some(output) => serde_json::from_value(output).map_err(QueryError::Answer),
            None => Err(QueryError::NoResult(Box::new(result))),
        }
    }
}

impl AgentBuilder<NoPrompt> {
    pub(super) fn without_prompt() -> Self {
        Self::new(NoPrompt)
    }

    /// Opens the conversation. Nothing is sent to the model yet.
    ///
    /// # Errors
    ///
    /// Returns a [`QueryError`] if an option is not valid, if the model has no key, or if the store
    /// fails.
    pub async fn open(self) -> Result<ConversationClient, QueryError> {
        Ok(Box::pin(self.start()).await?.1)
    }
}

impl<P> AgentBuilder<P> {
    fn new(prompt: P) -> Self {
        Self {
            prompt,
            builder: Windlass::builder(),
            model: ModelChoice::ByKey,
            api_key: None,
            tools: Vec::new(),
            cwd: PathBuf::from("."),
            has_store: false,
            approve: None,
            session: None,
            messages: MessageOptions::default(),
            hooks: HookClosures::default(),
        }
    }

    fn configure(mut self, change: impl FnOnce(WindlassBuilder) -> WindlassBuilder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Names the model: `sonnet`, `claude-sonnet-4-5`, `openai:gpt-6-sol`, `ollama:…`. Without a name
    /// it is the default model of the first provider whose key is set.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = ModelChoice::Named(name.into());
        self
    }

    /// Sets the key of the provider; without it the key comes from the environment.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Uses an implementation of [`Model`](crate::ports::Model).
    #[must_use]
    pub fn custom_model(mut self, model: impl Model) -> Self {
        self.model = ModelChoice::Given;
        self.configure(|builder| builder.model(model))
    }

    /// Uses the offline model that replies from a [script](crate::scripted), for tests.
    #[cfg(feature = "scripted")]
    #[must_use]
    pub fn script(mut self, script: Script) -> Self {
        self.model = ModelChoice::Given;
        self.configure(|builder| builder.scripted_model(script))
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system_prompt(self, text: impl AsRef<str>) -> Self {
        let text = Arc::from(text.as_ref());
        self.settings(|settings| settings.system = text)
    }

    /// Offers built-in tools by name: `Read`, `Write`, `Edit`, `Glob`, `Grep`, `Bash`, ….
    #[must_use]
    pub fn tools<N: AsRef<str>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }

    /// Offers a tool of the program, such as a [`FunctionTool`](crate::tools::FunctionTool).
    #[must_use]
    pub fn tool(self, tool: impl Tool) -> Self {
        self.configure(|builder| builder.tool(tool))
    }

    /// Lets the model delegate to a sub-agent of this name.
    #[must_use]
    pub fn sub_agent(self, name: impl AsRef<str>, definition: AgentDefinition) -> Self {
        self.configure(|builder| builder.sub_agent(name.as_ref(), definition))
    }

    /// Adds an MCP server; see [`WindlassBuilder::mcp_server`].
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp_server(self, name: &str, config: crate::mcp::McpServerConfig) -> Self {
        self.configure(|builder| builder.mcp_server(name, config))
    }

    /// Allows calls that this rule covers: `Read`, `Bash(npm test:*)`.
    #[must_use]
    pub fn allow(self, rule: impl AsRef<str>) -> Self {
        self.configure(|builder| builder.allow(rule.as_ref()))
    }

    /// Denies calls that this rule covers, whatever allows them.
    #[must_use]
    pub fn deny(self, rule: impl AsRef<str>) -> Self {
        self.configure(|builder| builder.deny(rule.as_ref()))
    }

    /// Chooses what happens to calls that no rule covers.
    #[must_use]
    pub fn permission_mode(self, mode: PermissionMode) -> Self {
        self.settings(|settings| settings.rules.mode = mode)
    }

    /// Asks the program about calls that need approval, about interrupted calls, plans and questions
    /// of the model. Without it such calls are denied.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::{Approval, scripted::Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let script = Script::parse(
    /// #     "when results 0\n  call Write {\"file_path\": \"a.txt\", \"content\": \"a\"}\nwhen any\n  say \"Done.\"\n",
    /// # )?;
    /// let answer = windlass::query("Write a.txt")
    ///     .script(script)
    ///     .tools(["Write"])
    ///     .cwd(folder.path())
    ///     .approve(|request| async move {
    ///         match request.tool_name.as_str() {
    ///             "Write" => Approval::Allow,
    ///             _ => Approval::deny("only files may be written"),
    ///         }
    ///     })
    ///     .text()
    ///     .await?;
    /// assert_eq!(answer, "Done.");
    /// assert!(folder.path().join("a.txt").exists());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn approve<F, A>(mut self, callback: F) -> Self
    where
        F: Fn(ApprovalRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Approval> + Send + 'static,
    {
        self.approve = Some(Arc::new(move |request| Box::pin(callback(request))));
        self
    }

    /// Calls this function at an event of the run, by the event's name in Claude Code: `PreToolUse`,
    /// `PostToolUse`, `UserPromptSubmit`, `Stop`, and the others of `docs/hooks.md`. See [`HookEvent`]
    /// for what it gets and [`HookReply`] for what it can decide. Starting fails for an unknown name.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::{HookReply, scripted::Script};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let script = Script::parse(
    /// #     "when results 0\n  call Bash {\"command\": \"rm -rf build\"}\nwhen any\n  say \"${result}\"\n",
    /// # )?;
    /// let answer = windlass::query("Tidy up")
    ///     .script(script)
    ///     .tools(["Bash"])
    ///     .allow("Bash")
    ///     .hook("PreToolUse", |event| async move {
    ///         match event.tool_input()["command"].as_str() {
    ///             Some(command) if command.contains("rm -rf") => HookReply::deny("not here"),
    ///             _ => HookReply::Pass,
    ///         }
    ///     })
    ///     .text()
    ///     .await?;
    /// assert!(answer.contains("not here"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn hook<F, R>(self, event: impl Into<String>, callback: F) -> Self
    where
        F: Fn(HookEvent) -> R + Send + Sync + 'static,
        R: Future<Output = HookReply> + Send + 'static,
    {
        self.hook_for(event, "", callback)
    }

    /// Calls this function at an event about one of these tools: `Bash`, `Write|Edit`, a pattern.
    /// Otherwise like [`hook`](Self::hook).
    #[must_use]
    pub fn hook_for<F, R>(
        mut self,
        event: impl Into<String>,
        tools: impl Into<String>,
        callback: F,
    ) -> Self
    where
        F: Fn(HookEvent) -> R + Send + Sync + 'static,
        R: Future<Output = HookReply> + Send + 'static,
    {
        self.hooks.add(event.into(), tools.into(), callback);
        self
    }

    /// Adds hooks of the program; see [`Hooks`](crate::ports::Hooks).
    #[must_use]
    pub fn hooks(self, hooks: impl Hooks) -> Self {
        self.configure(|builder| builder.hooks(hooks))
    }

    /// Sets the folder in which tools work; the current one by default.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        folder.as_ref().clone_into(&mut self.cwd);
        self
    }

    /// Keeps the conversation in this store; without one it is gone when the program ends.
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.has_store = true;
        self.configure(|builder| builder.store(store))
    }

    /// Continues the conversation with this session id, which a result message has; it need not
    /// exist yet.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session = Some(id.into());
        self
    }

    /// Limits the rounds of tool calls.
    #[must_use]
    pub fn max_turns(self, rounds: u32) -> Self {
        self.settings(|settings| settings.limits.tool_rounds = rounds)
    }

    /// Limits the cost of a run, in dollars.
    #[must_use]
    pub fn max_budget_usd(self, dollars: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a number that is too large or negative is the nearest one"
        )]
        let micros = (dollars * MICROS_PER_USD) as u64;
        self.settings(|settings| settings.budget.run.usd_micros = Some(micros))
    }

    /// Sets how much effort the model puts into its answer.
    #[must_use]
    pub fn effort(self, effort: Effort) -> Self {
        self.settings(|settings| settings.thinking.effort = Some(effort))
    }

    /// Requires an answer that fits this JSON Schema; [`Query::extract`] does so for a type.
    #[must_use]
    pub fn output_schema(self, schema: impl AsRef<str>) -> Self {
        self.configure(|builder| builder.output_schema(schema.as_ref()))
    }

    /// Also streams the provider's own events while a reply arrives
    /// ([`Message::StreamEvent`](crate::Message::StreamEvent)).
    #[must_use]
    pub fn partial_messages(mut self) -> Self {
        self.messages.partial_messages = true;
        self
    }

    /// Also streams what running calls print and how far they are
    /// ([`Message::ToolProgress`](crate::Message::ToolProgress)).
    #[must_use]
    pub fn tool_progress(mut self) -> Self {
        self.messages.tool_progress = true;
        self
    }

    /// Also streams a line about each batch of tool calls
    /// ([`Message::ToolUseSummary`](crate::Message::ToolUseSummary)), such as "Read the parser and
    /// ran its tests". The model for side requests writes it while the run goes on; nothing waits
    /// for it, and its cost counts.
    #[must_use]
    pub fn tool_use_summaries(mut self) -> Self {
        self.messages.tool_use_summaries = true;
        self
    }

    /// Also streams text and thinking of sub-agents; their tool calls are streamed anyway.
    #[must_use]
    pub fn sub_agent_text(mut self) -> Self {
        self.messages.sub_agent_text = true;
        self
    }

    /// Changes any setting: limits, budgets, time limits, the context window.
    #[must_use]
    pub fn settings(self, change: impl FnOnce(&mut Settings)) -> Self {
        self.configure(|builder| builder.settings(change))
    }
}
