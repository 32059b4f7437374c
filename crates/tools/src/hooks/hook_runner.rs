//! Runs one hook of the configuration, whatever its type, and reads its response.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::{Either, select};
use serde_json::Value;
use windlass_core::run::conversation::Conversation;
use windlass_runtime::ports::{
    Clock, HookContext, HookMessage, HookMessageLevel, HookMessages, HookModel, ProcessLauncher,
};

use super::callbacks::{
    HookCallbackError, HookCallbackRequest, HookCallbacks, HookReport, HookRunLabel,
};
use super::command_runner::{self, CapturedStream, HookJob, HookProcessEnd};
use super::config::{ConfiguredHook, FailurePolicy, HookAction};
use super::event_subject::{EventSubject, hook_label};
use super::http_hook::{HookHttp, HttpHook};
use super::prompt_hook;
use super::response::HookOutput;

/// Receives messages for the user.
pub(super) type UserMessageSink = Arc<dyn Fn(HookMessage) + Send + Sync>;

/// Receives reports about commands.
pub(super) type ReportSink = Arc<dyn Fn(HookReport<'_>) + Send + Sync>;

/// What hooks are run with. Clones share everything.
#[derive(Clone)]
pub(super) struct HookRunner {
    pub(super) folder: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) launcher: Arc<dyn ProcessLauncher>,
    /// Calls the functions of the program.
    pub(super) callbacks: Option<Arc<dyn HookCallbacks>>,
    /// Sends requests to web services.
    pub(super) http: Option<Arc<dyn HookHttp>>,
    /// Receives messages of hooks for the user in place of the readers of the run.
    pub(super) user_messages: Option<UserMessageSink>,
    /// Receives reports about commands.
    pub(super) reports: Option<ReportSink>,
    /// The number of hooks that were reported.
    pub(super) started: Arc<AtomicU64>,
}

/// The conversation that a hook is about, as far as it is known.
#[derive(Clone, Default)]
pub(super) struct HookScene {
    pub(super) messages: HookMessages,
    model: HookModel,
    conversation: Option<Conversation>,
}

impl HookScene {
    pub(super) fn of(context: &HookContext) -> Self {
        Self {
            messages: context.messages.clone(),
            model: context.model.clone(),
            conversation: Some(context.conversation.clone()),
        }
    }
}

impl HookRunner {
    pub(super) async fn run_hook(
        &self,
        about: EventSubject<'_>,
        hook: &ConfiguredHook,
        input: &Value,
        scene: &HookScene,
    ) -> HookOutput {
        let output = match &hook.action {
            HookAction::Command(command) => self.run_command(about, (hook, command), input).await,
            HookAction::Callback(id) => {
                let returned = self.call_back(id, hook.timeout_ms, input).await;
                HookOutput::from_callback(about.event, returned)
            }
            HookAction::Http(http) => self.call_service(about, (hook, http), input).await,
            HookAction::Prompt(prompt) => self.ask_model(about, (hook, prompt), input, scene).await,
        };
        let mut output = match (output, hook.on_failure) {
            (Ok(output), _) => output,
            (Err(reason), FailurePolicy::Block) => HookOutput::deny(&format!("the hook {reason}")),
            (Err(reason), FailurePolicy::Ignore) => {
                let message = about.message(HookMessageLevel::Warning, &reason, input);
                self.show_to_user(message, &scene.messages);
                HookOutput::default()
            }
        };
        let can_block = about.event.can_block() && !hook.is_async;
        for text in output.take_user_messages(can_block) {
            self.show_to_user(about.message(HookMessageLevel::Info, &text, input), &scene.messages);
        }
        output
    }

    pub(super) fn show_to_user(&self, message: HookMessage, messages: &HookMessages) {
        match &self.user_messages {
            Some(tell) => tell(message),
            None => messages.push(message),
        }
    }

    async fn run_command(
        &self,
        about: EventSubject<'_>,
        (hook, command): (&ConfiguredHook, &str),
        input: &Value,
    ) -> Result<HookOutput, String> {
        let job = HookJob {
            command,
            folder: &self.folder,
            input: input.to_string().into_bytes(),
            timeout_ms: hook.timeout_ms,
            variables: &hook.variables,
        };
        let run = self.report_start(about);
        let ended = self.run_process(job).await;
        let (stdout, stderr, exit_code) = match &ended {
            Ok(ended) => (&*ended.stdout.text, &*ended.stderr.text, ended.exit_code()),
            Err(_) => ("", "", None),
        };
        self.report(HookReport::Returned { hook: &run, stdout, stderr, exit_code });
        HookOutput::from_end(about.event, command, input, ended)
    }

    pub(super) async fn run_process(&self, job: HookJob<'_>) -> io::Result<HookProcessEnd> {
        command_runner::run_hook_process(job, self.launcher.as_ref(), self.clock.as_ref()).await
    }

    /// Calls a web service.
    async fn call_service(
        &self,
        about: EventSubject<'_>,
        (hook, http): (&ConfiguredHook, &HttpHook),
        input: &Value,
    ) -> Result<HookOutput, String> {
        let run = self.report_start(about);
        let answer = self.in_time(hook.timeout_ms, http.post(self.http.as_ref(), input)).await;
        let answer = answer.unwrap_or_else(|late| Err(format!("{} {late}", http.url)));
        let (stdout, stderr) = match &answer {
            Ok(CapturedStream { text, .. }) => (text.as_str(), ""),
            Err(reason) => ("", reason.as_str()),
        };
        let exit_code = Some(i32::from(answer.is_err()));
        self.report(HookReport::Returned { hook: &run, stdout, stderr, exit_code });
        HookOutput::from_http(about.event, &http.url, input, &answer?)
    }

    /// Asks a model.
    async fn ask_model(
        &self,
        about: EventSubject<'_>,
        (hook, prompt): (&ConfiguredHook, &str),
        input: &Value,
        scene: &HookScene,
    ) -> Result<HookOutput, String> {
        let Some(conversation) = &scene.conversation else {
            return Err("cannot ask a model at this moment; use another type".to_owned());
        };
        let run = self.report_start(about);
        let (system, question) = prompt_hook::question(prompt, input);
        let asked = scene.model.ask(conversation, system, &question);
        let answer = self.in_time(hook.timeout_ms, asked).await;
        let answer = answer.unwrap_or_else(|late| Err(format!("that asks a model {late}")));
        let (stdout, stderr) = match &answer {
            Ok(text) => (text.as_str(), ""),
            Err(reason) => ("", reason.as_str()),
        };
        let exit_code = Some(i32::from(answer.is_err()));
        self.report(HookReport::Returned { hook: &run, stdout, stderr, exit_code });
        prompt_hook::parse_answer(&answer?)
    }

    /// Waits for a future, but not longer than a hook may take.
    async fn in_time<T>(&self, limit: u64, future: impl Future<Output = T>) -> Result<T, String> {
        tokio::pin!(future);
        match select(future, self.clock.sleep(limit)).await {
            Either::Left((done, _)) => Ok(done),
            Either::Right(((), _)) => {
                Err(format!("was stopped because it took longer than {limit} ms"))
            }
        }
    }

    async fn call_back(
        &self,
        callback: &str,
        timeout_ms: u64,
        input: &Value,
    ) -> Result<Value, HookCallbackError> {
        let tool_use_id = input.get("tool_use_id").and_then(Value::as_str);
        let request = HookCallbackRequest { callback, tool_use_id, input, timeout_ms };
        match &self.callbacks {
            Some(callbacks) => callbacks.call(request).await,
            None => Err(HookCallbackError::Failed("no program can be called".to_owned())),
        }
    }

    fn report_start(&self, about: EventSubject<'_>) -> HookRunLabel {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let label = hook_label(about.event, about.subject);
        let run = HookRunLabel { number, label, event: about.event.name() };
        self.report(HookReport::Started { hook: &run });
        run
    }

    fn report(&self, report: HookReport<'_>) {
        if let Some(tell) = &self.reports {
            tell(report);
        }
    }
}
