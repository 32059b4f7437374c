//! Windlass is a durable agent runtime: it calls a model, runs the tools the model asks for, and
//! commits every step to a store before the step takes effect. A run that is killed is resumed where
//! it was, and every run ends with a recorded stop cause.
//!
//! This crate is the library to depend on: the runtime, its adapters (models, stores, tools), and a
//! builder. The command line `windlass` is a client of it.
//!
//! # One prompt
//!
//! ```no_run
//! # async fn why() -> Result<(), windlass::QueryError> {
//! let mut messages = windlass::query("Why does the build fail?")
//!     .model("claude-sonnet-4-5") // the key is in ANTHROPIC_API_KEY
//!     .tools(["Read", "Grep", "Bash"])
//!     .cwd(".")
//!     .stream()
//!     .await?;
//! while let Some(message) = messages.try_next().await? {
//!     if let Some(text) = message.text() {
//!         println!("{text}");
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`query`] is for one prompt, [`client`] for a conversation; both give [messages](Message).
//!
//! # An agent from its parts
//!
//! An agent needs a model, a store, and usually tools. This one uses the offline model, which replies
//! from a [script](scripted), so it runs without a key and without a network:
//!
//! ```
//! use serde::Deserialize;
//! use windlass::core::call::outcome::ToolError;
//! use windlass::memory::MemoryStore;
//! use windlass::ports::CallContext;
//! use windlass::scripted::Script;
//! use windlass::tools::FunctionTool;
//! use windlass::tools::schemars::{self, JsonSchema};
//! use windlass::{RunOutcome, Windlass};
//!
//! // A tool is a type for its input and a function. The model sees the schema of the type.
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct TideInput {
//!     /// The harbour, as on the chart
//!     harbour: String,
//! }
//!
//! async fn look_up_tide(_call: CallContext, input: TideInput) -> Result<String, ToolError> {
//!     match input.harbour.as_str() {
//!         "Cardiff" => Ok("high water at 07:12".to_owned()),
//!         other => Err(ToolError::new("unknown_harbour", other, "ask for Cardiff")),
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = r#"
//! when results 0
//!   call Tide {"harbour": "Cardiff"}
//! when any
//!   say "The table says: ${result}"
//! "#;
//! let windlass = Windlass::builder()
//!     .scripted_model(Script::parse(script)?)
//!     .store(MemoryStore::new()) // or SqliteStore::open("conversations.db")?
//!     .tool(FunctionTool::new("Tide", "Tells the next high water.", look_up_tide).read_only())
//!     .allow("Tide") // calls that no rule allows wait for approval
//!     .start()
//!     .await?;
//!
//! let session = windlass.session("conversation:1");
//! let run = session.send("When is high water in Cardiff?").await?;
//! match run.wait_for_end().await? {
//!     RunOutcome::Finished(end) => {
//!         assert_eq!(&*end.text, "The table says: high water at 07:12");
//!         assert_eq!(end.cause.as_str(), "end_turn");
//!     }
//!     other => panic!("the run did not finish: {other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Where to go from here
//!
//! | to | see |
//! |---|---|
//! | send a prompt and read the answer | [`query`], [`MessageStream`] |
//! | hold a conversation | [`client`], [`ConversationClient`] |
//! | approve calls in the program | [`AgentBuilder::approve`] |
//! | call a model of a provider | [`WindlassBuilder::model_by_name`], [`models`] |
//! | bring a model of your own | [`ports::Model`] |
//! | give the model files, search and a shell | [`tools::standard_tools`] |
//! | write a tool | [`tools::FunctionTool`], [`ports::Tool`] |
//! | decide what may run | [`WindlassBuilder::allow`], [`WindlassBuilder::deny`], [`ports::Hooks`] |
//! | approve calls and answer questions | [`RunOutcome::Parked`], [`Session::answer`] |
//! | follow a run live | [`RunStream`], [`StreamItem`], [`StreamOptions`], [`Subscription`] |
//! | get data instead of text | [`WindlassBuilder::output_schema`] |
//! | delegate to sub-agents | [`WindlassBuilder::sub_agent`], [`AgentDefinition`] |
//! | keep conversations on disk, or share them among machines | [`sqlite`], [`postgres`] |
//! | continue after a crash | [`Session::resume`], [`Windlass::run_worker`] |
//! | run several processes | [`Windlass::run_worker`], [`Windlass::hand_over`], [`LeaseTimes`] |
//! | test an agent offline | [`scripted`], [`memory`] |
//!
//! # Cargo features
//!
//! All are on by default. Without any, the crate is the loop with the memory store and the tools for
//! files, and has no C code.
//!
//! | feature | what it adds |
//! |---|---|
//! | `sqlite`, `postgres` | the stores on disk; the memory store is always there |
//! | `providers` | models by name: `query`, `client` and `models` |
//! | `scripted` | the offline model for tests |
//! | `shell` | `Bash`, `TaskOutput` and `TaskStop`, with the analysis of commands |
//! | `pdf` | the text of PDF files in `Read` |

mod agent_definition;
mod agent_tasks;
mod builder;
#[cfg(feature = "providers")]
mod hook_http;
mod instance;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod messages;
#[cfg(feature = "providers")]
pub mod models;
pub mod ports;
#[cfg(feature = "providers")]
mod query;
mod questions;
mod resume;
mod rewind;
mod runs;
pub mod stats;

pub use agent_definition::AgentDefinition;
pub use agent_tasks::AgentTasks;
pub use builder::{BuildError, WindlassBuilder};
pub use instance::Windlass;
#[doc(inline)]
pub use messages::Message;
#[cfg(feature = "providers")]
pub use query::{
    AgentBuilder, Approval, ApprovalKind, ApprovalRequest, ClientBuilder, ConversationClient,
    ConversationUsage, HookEvent, HookReply, MessageStream, NoPrompt, Prompt, Query, QueryError,
    RunExplanation, RunInterrupter, client, query,
};
pub use questions::{AnswerAcceptance, OpenQuestion};
pub use resume::{ResumeOutcome, ResumeRequest, request_resume};
pub use rewind::{Rewind, RewindError};
pub use runs::{PromptAcceptance, PromptDelivery, RunPage, RunQuery};
/// Settings, records, messages and the decision functions: the types that the other items of this
/// crate refer to.
pub use windlass_core as core;
#[doc(inline)]
pub use windlass_core::log::inbox::HumanAnswer;
#[doc(inline)]
pub use windlass_core::settings::conversation_settings::{ModelSpec as ModelSettings, Settings};
#[doc(inline)]
pub use windlass_core::stop::StopCause;
/// A run that waits for a human says what it asks; the answer continues it:
///
/// ```
/// use windlass::core::run::question::QuestionKind;
/// use windlass::tools::WriteTool;
/// use windlass::{HumanAnswer, RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let script = r#"
/// when results 0
///   call Write {"file_path": "note.txt", "content": "hello"}
/// when any
///   say "Written."
/// "#;
/// let windlass = Windlass::builder()
///     .scripted_model(Script::parse(script)?)
///     .store(MemoryStore::new())
///     .tool(WriteTool::new(folder.path())) // no rule allows it: every call needs approval
///     .start()
///     .await?;
/// let session = windlass.session("conversation:1");
/// let run = session.send("Write a note.").await?;
/// let RunOutcome::Parked(questions) = run.wait_for_end().await? else { panic!("not parked") };
/// assert!(matches!(questions[0].kind, QuestionKind::Approval { .. }));
///
/// session.answer(questions[0].id, HumanAnswer::allow()).await?;
/// let RunOutcome::Finished(end) = session.resume().await?.wait_for_end().await? else {
///     panic!("not finished")
/// };
/// assert_eq!(&*end.text, "Written.");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::RunOutcome;
/// See [`StreamItem`] for a loop that reads all items.
#[doc(inline)]
pub use windlass_runtime::RunStream;
/// [`Session::send`] and its variants drive the conversation in this process and return a stream;
/// [`Session::enqueue`] and its variants leave it to a [worker](Windlass::run_worker).
///
/// # Examples
///
/// ```
/// use windlass::{RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = Script::parse("when any\n  say \"You said: ${user}\"\n")?;
/// # let builder = Windlass::builder().scripted_model(script).store(MemoryStore::new());
/// let windlass = builder.start().await?;
/// let session = windlass.session("conversation:1");
/// session.send("First.").await?.wait_for_end().await?;
/// session.send("Second.").await?.wait_for_end().await?; // knows the first
///
/// // A copy goes its own way; the original is not changed by it.
/// let fork = session.fork(None).await?;
/// let run = fork.send("Third.").await?;
/// assert!(matches!(run.wait_for_end().await?, RunOutcome::Finished(_)));
///
/// assert!(fork.read_log().await?.len() > session.read_log().await?.len());
/// fork.delete().await?;
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::Session;
/// ```
/// use windlass::{StreamItem, Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = Script::parse("when any\n  say \"One word after the other.\"\n")?;
/// # let builder = Windlass::builder().scripted_model(script).store(MemoryStore::new());
/// let windlass = builder.start().await?;
/// let mut run = windlass.session("conversation:1").send("Talk to me.").await?;
/// let mut text = String::new();
/// while let Some(item) = run.next().await? {
///     match item {
///         StreamItem::TextDelta { text: piece, .. } => text.push_str(&piece),
///         StreamItem::RunEnded(end) => assert_eq!(end.cause.as_str(), "end_turn"),
///         _ => {}
///     }
/// }
/// assert_eq!(text, "One word after the other.");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::feed::StreamItem;
/// The events of a reply as the provider sends them, with its ids and usage:
///
/// ```
/// use windlass::{StreamItem, StreamOptions, Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = Script::parse("when any\n  say \"Hello.\"\n")?;
/// # let builder = Windlass::builder().scripted_model(script).store(MemoryStore::new());
/// let windlass = builder.start().await?;
/// let session = windlass
///     .session("conversation:1")
///     .with_stream_options(StreamOptions { reply_events: true, ..StreamOptions::default() });
/// let mut run = session.send("Talk to me.").await?;
/// let mut events = Vec::new();
/// while let Some(item) = run.next().await? {
///     if let StreamItem::ReplyEvent { event, .. } = item {
///         events.push(event);
///     }
/// }
/// assert!(events[0].starts_with(r#"{"type":"message_start","message":{"id":"msg_"#));
/// assert_eq!(&**events.last().unwrap(), r#"{"type":"message_stop"}"#);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::feed::StreamOptions;
/// [`Session::subscribe`] opens one; [`Windlass::run_worker`] has an example.
#[doc(inline)]
pub use windlass_runtime::feed::{Subscription, SubscriptionError};
/// ```
/// use windlass::{LeaseTimes, Windlass};
///
/// // A process that is silent for 30 seconds loses its conversations to others.
/// let times = LeaseTimes { heartbeat_ms: 5_000, expiry_ms: 30_000 };
/// let builder = Windlass::builder().lease(times);
/// ```
#[doc(inline)]
pub use windlass_runtime::lease::LeaseTimes;
/// ```
/// use windlass::{RetentionPolicy, Windlass};
///
/// let policy = RetentionPolicy { raw_days: 7, ..RetentionPolicy::default() };
/// let builder = Windlass::builder().retention(policy);
/// ```
#[doc(inline)]
pub use windlass_runtime::retention::RetentionPolicy;
#[doc(inline)]
pub use windlass_runtime::worker_identity::process_rights;
/// ```
/// use std::path::Path;
/// use windlass::{Windlass, Workspace};
///
/// // Machines that have a copy of the folder share conversations by giving it the same id.
/// let workspace = Workspace::from_folder(Path::new(".")).with_id("shop-checkout");
/// let builder = Windlass::builder().shared_workspace(workspace);
/// ```
#[doc(inline)]
pub use windlass_runtime::workspace::Workspace;
#[doc(inline)]
pub use windlass_runtime::{
    Agent, AgentRegistry, DriveError, LaneHost, StoreStatus, StoreStatusObserver, SystemClock,
    UnconfinedLauncher, WorkerSettings,
};
/// ```
/// use std::sync::Arc;
/// use windlass::tools::{GlobTool, GrepTool, ReadTool};
/// use windlass::{ToolRegistry, Windlass};
///
/// let tools = ToolRegistry::default()
///     .with(ReadTool::new("."))
///     .with(GlobTool::new("."))
///     .with(GrepTool::new("."));
/// assert!(tools.get("Grep").is_some());
/// let builder = Windlass::builder().tools(tools.filter(|name| name != "Glob"));
/// ```
#[doc(inline)]
pub use windlass_runtime::{ToolRegistry, ToolSource};
#[cfg(feature = "scripted")]
#[doc(inline)]
pub use windlass_scripted as scripted;
#[doc(inline)]
pub use windlass_store::memory;
#[cfg(feature = "postgres")]
#[doc(inline)]
pub use windlass_store::postgres;
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use windlass_store::sqlite;
#[doc(inline)]
pub use windlass_tools as tools;

/// The Rust examples of the pages for users, compiled and run as tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/library.md")]
    struct LibraryGuide;
}
