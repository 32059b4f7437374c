//! The ports: the traits that connect the runtime with the outside world. Implement one to bring a
//! model, a tool, hooks, a store or a clock of your own; everything else in this module is what the
//! methods of these traits take and return.

#[doc(inline)]
pub use windlass_runtime::ports::{
    AbandonedLane, Affinity, AppendRequest, BoxFuture, CallContext, CallHeartbeat, CallProgress,
    ClaimQuery, Clock, DEFAULT_TENANT, DeletedRows, Document, DocumentFilter, DocumentQuery,
    EncodedEntry, EnqueuedMessage, EventCount, ExpansionKind, HookContext, HookMessage,
    HookMessageLevel, HookMessages, HookResponse, INBOX_PAGE_MESSAGES, LaneClaim, LaneInfo,
    LaunchAccess, LaunchGroup, LaunchPurpose, LaunchRequest, LaunchStream, LaunchedProcess,
    LimitedTenant, ModelSwitch, NoHooks, NumberedWorkerEvent, ObservedHeartbeat, OutboxMessage,
    ProcessHandle, ProcessLauncher, ProgressReporter, ProgressStep, RUN_CHANGE_KIND,
    ReconcileRequest, RemovedLanes, ReplyObserver, ResumeOverride, RetentionCutoffs, RunCount,
    RunInfo, RunTraceEnd, ServedWorkspace, SessionEndReason, SessionEvent, SourceReporter,
    SpendingAccount, SpendingChange, StoreError, TenantLimits, ToolStats, WEBHOOK_KIND,
    WorkerEvent, WorkerEventPage, WorkerId, WorkerInfo, WorkerScope, WriteCondition,
};

/// # Examples
///
/// A hook that forbids a command, and one that reviews answers:
///
/// ```
/// use windlass::core::call::call_state::Call;
/// use windlass::core::log::input::HookDecision;
/// use windlass::core::run::review::{Review, ReviewResult};
/// use windlass::core::settings::conversation_settings::{HookPoints, HookPresence};
/// use windlass::ports::{BoxFuture, HookContext, HookResponse, Hooks};
/// use windlass::{RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
/// # use windlass::tools::ReadTool;
///
/// struct HouseRules;
///
/// impl Hooks for HouseRules {
///     fn points(&self) -> HookPoints {
///         let present = HookPresence::Present;
///         HookPoints { before_tool: present, answer: present, ..HookPoints::default() }
///     }
///
///     fn before_tool_call(&self, _: HookContext, call: Call) -> BoxFuture<'_, HookResponse> {
///         let decision = if call.tool_use.input.text().contains(".env") {
///             HookDecision::Deny { reason: "no secrets".into() }
///         } else {
///             HookDecision::Pass {}
///         };
///         Box::pin(std::future::ready(decision.into()))
///     }
///
///     fn review(&self, context: HookContext, about: Review) -> BoxFuture<'_, ReviewResult> {
///         let result = match about {
///             Review::Answer { .. } if context.answer_text().len() > 400 => {
///                 ReviewResult::Block { reason: "say it in one line".into() }
///             }
///             _ => ReviewResult::Pass { context: None },
///         };
///         Box::pin(std::future::ready(result))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = "when results 0\n  call Read {\"file_path\": \".env\"}\nwhen any\n  say \"${result}\"\n";
/// # let builder = Windlass::builder().scripted_model(Script::parse(script)?);
/// # let builder = builder.store(MemoryStore::new()).tool(ReadTool::new("."));
/// let windlass = builder
///     .hooks(HouseRules)
///     .allow("Read")
///     .start()
///     .await?;
/// let run = windlass.session("conversation:1").send("Read .env").await?;
/// let RunOutcome::Finished(end) = run.wait_for_end().await? else { panic!("not finished") };
/// assert!(end.text.contains("no secrets"));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::ports::Hooks;
/// # Examples
///
/// A model that repeats the last message:
///
/// ```
/// use std::sync::Arc;
///
/// use windlass::core::log::input::ModelFailure;
/// use windlass::core::message::content_block::ContentBlock;
/// use windlass::core::message::reply::{ModelReply, StopReason, TokenUsage};
/// use windlass::core::message::request::ModelRequest;
/// use windlass::ports::{BoxFuture, Model, ReplyObserver};
/// use windlass::{RunOutcome, Windlass, memory::MemoryStore};
///
/// struct Echo;
///
/// impl Model for Echo {
///     fn call(
///         &self,
///         request: ModelRequest,
///         observer: Arc<dyn ReplyObserver>,
///     ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
///         let messages = request.messages();
///         let last = messages.last().and_then(|message| message.blocks.last()?.as_text());
///         let text = last.unwrap_or_default();
///         observer.on_text(text);
///         Box::pin(std::future::ready(Ok(ModelReply {
///             blocks: vec![ContentBlock::text(text)],
///             truncated_block: None,
///             stop_reason: StopReason::EndTurn,
///             stop_sequence: None,
///             usage: TokenUsage::default(),
///             envelope: None,
///         })))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let windlass = Windlass::builder().model(Echo).store(MemoryStore::new()).start().await?;
/// let run = windlass.session("conversation:1").send("Hello?").await?;
/// let RunOutcome::Finished(end) = run.wait_for_end().await? else { panic!("not finished") };
/// assert_eq!(&*end.text, "Hello?");
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::ports::Model;
/// Implementations are [`MemoryStore`](crate::memory::MemoryStore),
/// [`SqliteStore`](crate::sqlite::SqliteStore) and
/// [`PostgresStore`](crate::postgres::PostgresStore). Programs rarely call a store themselves; to
/// list runs they do:
///
/// ```
/// use std::sync::Arc;
///
/// use windlass::ports::Store;
/// use windlass::{Windlass, memory::MemoryStore, scripted::Script};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// # let builder = Windlass::builder().scripted_model(Script::parse("when any\n  say \"Hi.\"\n")?);
/// let windlass = builder.shared_store(Arc::clone(&store)).start().await?;
/// windlass.session("conversation:1").send("Hello").await?.wait_for_end().await?;
///
/// let runs = store.list_runs(None, 10).await?;
/// assert_eq!(runs[0].text.as_deref(), Some("Hi."));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::ports::Store;
/// [`FunctionTool`](crate::tools::FunctionTool) is enough for most tools. Implement the trait to
/// declare what a call touches, so that calls of different resources run at the same time:
///
/// ```
/// use std::sync::Arc;
///
/// use windlass::core::call::call_facts::{CallFacts, Repeatability};
/// use windlass::core::call::call_order::TouchedResources;
/// use windlass::core::call::outcome::ToolOutcome;
/// use windlass::core::message::raw_json::RawJson;
/// use windlass::core::settings::conversation_settings::ToolSpec;
/// use windlass::ports::{BoxFuture, CallContext, Tool};
/// use windlass::{RunOutcome, Windlass, memory::MemoryStore, scripted::Script};
///
/// struct Deploy;
///
/// impl Tool for Deploy {
///     fn spec(&self) -> ToolSpec {
///         ToolSpec {
///             name: "Deploy".into(),
///             description: "Deploys the shop.".into(),
///             input_schema: RawJson::encode(&serde_json::json!({"type": "object"})),
///         }
///     }
///
///     fn assess(&self, _input: &RawJson) -> CallFacts {
///         CallFacts {
///             touches: TouchedResources::Writes(vec![Arc::from("deployment:shop")]),
///             repeat: Repeatability::OnceOnly, // after a crash in the middle, a human is asked
///             ..CallFacts::default()
///         }
///     }
///
///     fn run(&self, context: CallContext, _input: RawJson) -> BoxFuture<'_, ToolOutcome> {
///         // An external system that knows the key deploys once, however often it is asked.
///         let text = format!("deployed, key {}", context.idempotency_key);
///         Box::pin(std::future::ready(ToolOutcome::Done(RawJson::string(&text))))
///     }
///
///     fn needs_workspace(&self) -> bool {
///         false // any worker may run it
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let script = "when results 0\n  call Deploy {}\nwhen any\n  say \"${result}\"\n";
/// # let builder = Windlass::builder().scripted_model(Script::parse(script)?);
/// # let builder = builder.store(MemoryStore::new());
/// let windlass = builder.tool(Deploy).allow("Deploy").start().await?;
/// let run = windlass.session("conversation:1").send("Deploy it").await?;
/// let RunOutcome::Finished(end) = run.wait_for_end().await? else { panic!("not finished") };
/// assert!(end.text.starts_with("deployed"));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use windlass_runtime::ports::Tool;
