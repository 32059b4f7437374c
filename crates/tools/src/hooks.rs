//! Hooks as in `.claude/settings.json`. A command gets the event as JSON on its standard input and
//! responds with an exit code or JSON; a web service gets it as the body of a request; a model is
//! asked about it. Exit codes and fields are those of Claude Code; `docs/hooks.md` lists what differs.
//!
//! The configuration is read once, when the runner is made, and has a hash: a hook that edits it
//! changes nothing for the conversations of this process. The command of a completion gate runs the
//! same way. A program can register functions of its own instead of commands ([`HookCallbacks`]).
//!
//! Not here: which folder may configure hooks at all. That is decided before the configuration is
//! parsed here.

mod background_hooks;
mod callbacks;
mod command_runner;
mod config;
mod event_runs;
mod event_subject;
mod hook_runner;
mod http_hook;
pub mod payload;
mod permission_request;
mod prompt_hook;
mod response;

#[cfg(test)]
#[path = "hooks/command_runner_tests.rs"]
mod command_runner_tests;
#[cfg(test)]
#[path = "hooks/config_tests.rs"]
mod config_tests;
#[cfg(test)]
#[path = "hooks/hook_types_tests.rs"]
mod hook_types_tests;
#[cfg(test)]
#[path = "hooks/payload_tests.rs"]
mod payload_tests;
#[cfg(test)]
#[path = "hooks/response_tests.rs"]
mod response_tests;

pub use callbacks::{
    HookCallbackError, HookCallbackRequest, HookCallbacks, HookReport, HookRunLabel,
    PermissionHookDecision,
};
pub use config::{HookConfig, HookEvent, IgnoredHook, InvalidHooks};
pub use http_hook::{HookHttp, HookHttpRequest, HookHttpResponse};
pub use response::HookOutput;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::run::child_runs::root_lane;
use windlass_core::run::question::Question;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::settings::conversation_settings::HookPoints;
use windlass_runtime::UnconfinedLauncher;
use windlass_runtime::hook_chain::{combine_responses, combine_review_results};
use windlass_runtime::ports::{
    BoxFuture, Clock, HookContext, HookMessage, HookResponse, Hooks, ProcessLauncher, RunMoment,
    SessionEndReason, SessionEvent,
};

use background_hooks::BackgroundHooks;
use command_runner::HookJob;
use event_subject::hook_label;
use hook_runner::{HookRunner, HookScene};

/// Runs the hooks of a configuration: commands, web services, questions to a model, or functions of
/// the program.
pub struct CommandHooks {
    config: HookConfig,
    runner: HookRunner,
    /// Conversations that this process is working on.
    sessions: Mutex<HashSet<LaneId>>,
    /// Hooks that run once in a conversation, and did so in this process.
    finished_once: Mutex<HashSet<(LaneId, HookPlace)>>,
    /// Finds the transcript of a conversation or of a sub-agent.
    transcripts: Option<TranscriptLocator>,
    background: BackgroundHooks,
    /// The files of instructions that every session begins with, each with its kind.
    instructions: Vec<(PathBuf, &'static str)>,
}

/// The place of a hook in the configuration: its event, and its position among those of the event.
type HookPlace = (HookEvent, usize);

/// Finds the transcript of the conversation or of the sub-agent on a lane.
type TranscriptLocator = Box<dyn Fn(&LaneId) -> Option<PathBuf> + Send + Sync>;

/// Events about moments of a run that have been recorded.
const MOMENT_EVENTS: [HookEvent; 6] = [
    HookEvent::PermissionDenied,
    HookEvent::PostToolBatch,
    HookEvent::PostCompact,
    HookEvent::StopFailure,
    HookEvent::PostModelSwitch,
    HookEvent::InstructionsLoaded,
];

/// Maximum number of conversations that are tracked at once.
const MAX_SESSIONS: usize = 10_000;

impl CommandHooks {
    /// Returns hooks of this configuration, run in `folder`.
    #[must_use]
    pub fn new(config: HookConfig, folder: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let runner = HookRunner {
            folder: folder.into(),
            clock,
            launcher: Arc::new(UnconfinedLauncher),
            callbacks: None,
            http: None,
            user_messages: None,
            reports: None,
            started: Arc::default(),
        };
        Self {
            config,
            runner,
            sessions: Mutex::default(),
            finished_once: Mutex::default(),
            transcripts: None,
            background: BackgroundHooks::default(),
            instructions: Vec::new(),
        }
    }

    /// Starts commands through `launcher`. Without it they are not confined.
    #[must_use]
    pub fn with_launcher(mut self, launcher: Arc<dyn ProcessLauncher>) -> Self {
        self.runner.launcher = launcher;
        self
    }

    /// Calls the callbacks of the configuration through `callbacks`. Without it they fail.
    #[must_use]
    pub fn with_callbacks(mut self, callbacks: Arc<dyn HookCallbacks>) -> Self {
        self.runner.callbacks = Some(callbacks);
        self
    }

    /// Sends the requests of hooks that are web services through `http`. Without it they fail.
    #[must_use]
    pub fn with_http(mut self, http: Arc<dyn HookHttp>) -> Self {
        self.runner.http = Some(http);
        self
    }

    /// Tells hooks where the transcripts are: `locate` returns the file of the conversation or of
    /// the sub-agent on a lane. Without it `transcript_path` is empty.
    #[must_use]
    pub fn with_transcripts(
        mut self,
        locate: impl Fn(&LaneId) -> Option<PathBuf> + Send + Sync + 'static,
    ) -> Self {
        self.transcripts = Some(Box::new(locate));
        self
    }

    /// Tells hooks of the files of instructions that every session begins with: `User`, `Project` or
    /// `Local`.
    #[must_use]
    pub fn with_instructions(mut self, files: Vec<(PathBuf, &'static str)>) -> Self {
        self.instructions = files;
        self
    }

    /// Passes reports about commands to `tell`: when they start and return.
    #[must_use]
    pub fn with_reports(mut self, tell: impl Fn(HookReport<'_>) + Send + Sync + 'static) -> Self {
        self.runner.reports = Some(Arc::new(tell));
        self
    }

    /// Passes messages for the user to `tell`: messages of hooks, and why one failed. Without it
    /// the readers of the run receive them, except those about the end of a session.
    #[must_use]
    pub fn with_user_messages(
        mut self,
        tell: impl Fn(HookMessage) + Send + Sync + 'static,
    ) -> Self {
        self.runner.user_messages = Some(Arc::new(tell));
        self
    }

    /// Returns the hook points that have hooks.
    #[must_use]
    pub fn hook_points(&self) -> HookPoints {
        self.config.hook_points()
    }

    /// Returns the hash of the configuration that was read.
    #[must_use]
    pub fn config_hash(&self) -> &str {
        self.config.hash()
    }

    /// Returns the longest timeout of the hooks.
    #[must_use]
    pub fn max_timeout_ms(&self) -> u64 {
        self.config.max_timeout_ms()
    }

    fn lock_sessions(&self) -> MutexGuard<'_, HashSet<LaneId>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that this process works on a conversation; returns whether it was already recorded.
    fn remember_session(&self, lane: &LaneId) -> bool {
        let mut sessions = self.lock_sessions();
        if sessions.len() >= MAX_SESSIONS {
            sessions.clear();
        }
        !sessions.insert(lane.clone())
    }

    /// Forgets a conversation that this process is done with.
    fn forget_session(&self, lane: &LaneId) {
        self.lock_sessions().remove(lane);
        let mut finished = self.finished_once.lock().unwrap_or_else(PoisonError::into_inner);
        finished.retain(|(of, _)| of != lane);
    }

    /// Runs the command of the completion gate: an answer is accepted when it succeeds.
    async fn run_gate_command(&self, context: &HookContext) -> Vec<HookOutput> {
        // The gate belongs to the commands, of which there is one configuration in a process.
        let settings =
            context.conversation.settings.as_ref().filter(|_| self.runner.callbacks.is_none());
        let Some(command) = settings.and_then(|settings| settings.gate.command.clone()) else {
            return Vec::new();
        };
        let more = payload::answer_fields(context);
        let job = HookJob {
            command: &command,
            folder: &self.runner.folder,
            input: self.payload(HookEvent::Stop, context, more).to_string().into_bytes(),
            timeout_ms: config::DEFAULT_TIMEOUT_MS,
            variables: &[],
        };
        let ended = self.runner.run_process(job).await;
        vec![HookOutput::from_gate_end(&command, ended)]
    }

    async fn review_answer(&self, context: HookContext) -> ReviewResult {
        let (event, agent) = match context.parent() {
            Some(_) => (HookEvent::SubagentStop, context.agent().cloned().unwrap_or_default()),
            None => (HookEvent::Stop, Arc::default()),
        };
        let mut outputs =
            self.run_hooks(event, &agent, &context, payload::answer_fields(&context)).await;
        outputs.extend(self.run_gate_command(&context).await);
        combine_review_results(outputs.into_iter().map(HookOutput::into_review_result).collect())
    }

    async fn run_review(&self, context: HookContext, review: Review) -> ReviewResult {
        let outputs = match review {
            Review::Prompt {} => self.review_prompt(&context).await,
            Review::Answer { .. } => return self.review_answer(context).await,
            Review::Pruning { .. } | Review::Compaction { .. } => {
                let (trigger, more) = payload::compaction_fields(&context);
                self.run_hooks(HookEvent::PreCompact, trigger, &context, more).await
            }
            Review::Judge { .. } | Review::Summary { .. } => Vec::new(),
        };
        combine_review_results(outputs.into_iter().map(HookOutput::into_review_result).collect())
    }

    /// Reviews a prompt. A prompt of a conversation that was started in another process resumes its
    /// session here.
    async fn review_prompt(&self, context: &HookContext) -> Vec<HookOutput> {
        let mut outputs = Vec::new();
        if context.parent().is_none()
            && !self.remember_session(&context.lane)
            && !context.is_first_run()
        {
            outputs = self.start_session(context, "resume").await;
        }
        outputs.extend(
            self.run_hooks(
                HookEvent::UserPromptSubmit,
                "",
                context,
                payload::prompt_fields(context),
            )
            .await,
        );
        outputs
    }

    async fn start_session(&self, context: &HookContext, source: &str) -> Vec<HookOutput> {
        let (event, reason) = (HookEvent::InstructionsLoaded, "session_start");
        for (path, kind) in &self.instructions {
            let more = payload::instructions_fields(&path.to_string_lossy(), kind, reason);
            drop(self.run_hooks(event, reason, context, more).await);
        }
        self.run_hooks(
            HookEvent::SessionStart,
            source,
            context,
            payload::session_start_fields(source),
        )
        .await
    }
}

impl Hooks for CommandHooks {
    fn points(&self) -> HookPoints {
        self.hook_points()
    }

    fn on_start(&self, context: HookContext) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            let agent = context.agent().cloned().unwrap_or_default();
            let outputs = match context.parent() {
                Some(_) => {
                    self.run_hooks(
                        HookEvent::SubagentStart,
                        &agent,
                        &context,
                        payload::empty_fields(),
                    )
                    .await
                }
                None => {
                    self.remember_session(&context.lane);
                    self.start_session(&context, "startup").await
                }
            };
            combine_review_results(
                outputs.into_iter().map(HookOutput::into_review_result).collect(),
            )
        })
    }

    fn before_tool_call(&self, context: HookContext, call: Call) -> BoxFuture<'_, HookResponse> {
        Box::pin(async move {
            let more = payload::call_fields(&call);
            let outputs = self.run_call_hooks(HookEvent::PreToolUse, &call, &context, more).await;
            combine_responses(outputs.into_iter().map(HookOutput::into_pre_tool_response).collect())
        })
    }

    fn after_tool_call(
        &self,
        context: HookContext,
        call: Call,
        outcome: ToolOutcome,
    ) -> BoxFuture<'_, HookResponse> {
        Box::pin(async move {
            let (event, more) = payload::outcome_fields(&call, &outcome);
            let outputs = self.run_call_hooks(event, &call, &context, more).await;
            let subject = hook_label(event, &call.tool_use.name);
            combine_responses(
                outputs
                    .into_iter()
                    .map(|output| output.with_tool_content(&call.tool_use.name))
                    .map(|output| output.into_post_tool_response(&subject))
                    .collect(),
            )
        })
    }

    fn review(&self, context: HookContext, review: Review) -> BoxFuture<'_, ReviewResult> {
        Box::pin(self.run_review(context, review))
    }

    fn after_sampling(&self, context: HookContext) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            drop(
                self.run_hooks(
                    HookEvent::PostSampling,
                    "",
                    &context,
                    payload::answer_fields(&context),
                )
                .await,
            );
        })
    }

    fn on_question(&self, context: HookContext, question: Question) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let (kind, more) = payload::notification_fields(&context, &question);
            drop(self.run_hooks(HookEvent::Notification, kind, &context, more).await);
        })
    }

    fn decides(&self, question: &Question) -> bool {
        self.may_answer(question)
    }

    fn decide_question(
        &self,
        context: HookContext,
        question: Question,
    ) -> BoxFuture<'_, Option<HumanAnswer>> {
        Box::pin(self.answer_question(context, question))
    }

    fn wants_moments(&self) -> bool {
        MOMENT_EVENTS.iter().any(|event| self.config.has_hooks(*event))
    }

    fn on_moment(&self, context: HookContext, moment: RunMoment) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some((event, subject, more)) = payload::moment_fields(&context, moment) {
                drop(self.run_hooks(event, &subject, &context, more).await);
            }
        })
    }

    fn on_session_event(&self, lane: LaneId, event: SessionEvent) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            let folder = &self.runner.folder;
            let (event, subject, mut input) = payload::session_event_payload(&lane, &event, folder);
            self.put_transcript(&mut input, "transcript_path", &root_lane(&lane));
            let (about, scene) = ((event, subject.as_str(), None), HookScene::default());
            let outputs = self.run_hooks_with_payload(about, &lane, &input, &scene).await;
            let results = outputs.into_iter().map(HookOutput::into_unattended_review_result);
            combine_review_results(results.collect())
        })
    }

    fn on_session_end(&self, lane: LaneId, reason: SessionEndReason) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut input = payload::session_end_payload(&lane, reason, &self.runner.folder);
            self.put_transcript(&mut input, "transcript_path", &lane);
            let (about, scene) =
                ((HookEvent::SessionEnd, reason.name(), None), HookScene::default());
            drop(self.run_hooks_with_payload(about, &lane, &input, &scene).await);
            self.forget_session(&lane);
            self.background.wait_until_done().await;
        })
    }
}
