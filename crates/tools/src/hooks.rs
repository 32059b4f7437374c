//! Hooks that are commands, as `.claude/settings.json` lists them: what happens comes as JSON on
//! their standard input, what they think goes back as exit code or JSON.
//!
//! The configuration is read once, when the runner is made, and has a hash: a hook that edits it
//! changes nothing for the conversations of this process. The command of a completion gate runs the
//! same way.
//!
//! Not here: which folder may bring hooks at all. That is decided before the text comes here.

mod config;
mod said;
mod shell;
mod told;

#[cfg(test)]
#[path = "hooks/config_tests.rs"]
mod config_tests;
#[cfg(test)]
#[path = "hooks/runner_tests.rs"]
mod runner_tests;
#[cfg(test)]
#[path = "hooks/said_tests.rs"]
mod said_tests;
#[cfg(test)]
#[path = "hooks/told_tests.rs"]
mod told_tests;

pub use config::{BadHooks, HookConfig, IgnoredHook};

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use windlass_core::call::Call;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::outcome::Outcome;
use windlass_core::question::Question;
use windlass_core::settings::HookPoints;
use windlass_runtime::hook_chain::{advice, heard, side_by_side};
use windlass_runtime::ports::{Clock, Heard, Hooks, Scene, Task};

use config::{Event, Hook, OnFailure};
use said::Said;

/// Hooks that are commands.
pub struct CommandHooks {
    config: HookConfig,
    folder: PathBuf,
    transcripts: Option<PathBuf>,
    clock: Arc<dyn Clock>,
}

impl CommandHooks {
    /// Hooks of this configuration, run in `folder`.
    #[must_use]
    pub fn new(config: HookConfig, folder: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { config, folder: folder.into(), transcripts: None, clock }
    }

    /// The folder in which transcripts are written, as hooks are told.
    #[must_use]
    pub fn transcripts(mut self, folder: impl Into<PathBuf>) -> Self {
        self.transcripts = Some(folder.into());
        self
    }

    /// Where somebody listens.
    #[must_use]
    pub fn points(&self) -> HookPoints {
        self.config.points()
    }

    /// The hash of what was read.
    #[must_use]
    pub fn hash(&self) -> &str {
        self.config.hash()
    }

    /// How long the slowest of them may take.
    #[must_use]
    pub fn longest_ms(&self) -> u64 {
        self.config.longest_ms()
    }

    /// Runs the hooks of an event that fit `subject`, side by side, and gives what each said in the
    /// order of the configuration.
    async fn ask(&self, event: Event, subject: &str, scene: &Scene, more: Value) -> Vec<Said> {
        let input = told::json(event, scene, &self.place(scene), more);
        let run = |hook: &Hook| -> Task<'_, Said> {
            let (hook, input) = (hook.clone(), input.clone());
            Box::pin(async move { self.run(event, &hook, input).await })
        };
        side_by_side(self.config.fitting(event, subject).map(run).collect()).await
    }

    async fn run(&self, event: Event, hook: &Hook, input: String) -> Said {
        let job = shell::Job {
            command: &hook.command,
            folder: &self.folder,
            input: input.into_bytes(),
            timeout_ms: hook.timeout_ms,
        };
        let ended = shell::run(job, self.clock.as_ref()).await;
        match (Said::of(event, &hook.command, ended), hook.on_failure) {
            (Ok(said), _) => said,
            (Err(why), OnFailure::Block) => Said::deny(why),
            (Err(_), OnFailure::Ignore) => Said::default(),
        }
    }

    /// The command of the completion gate: an answer counts when it succeeds.
    async fn gate(&self, scene: &Scene) -> Vec<Said> {
        let settings = scene.conversation.settings.as_ref();
        let Some(command) = settings.and_then(|settings| settings.gate.command.clone()) else {
            return Vec::new();
        };
        let more = told::answer(scene);
        let job = shell::Job {
            command: &command,
            folder: &self.folder,
            input: told::json(Event::Stop, scene, &self.place(scene), more).into_bytes(),
            timeout_ms: config::TIMEOUT_MS,
        };
        let ended = shell::run(job, self.clock.as_ref()).await;
        vec![Said::of_gate(&command, ended)]
    }

    fn place(&self, scene: &Scene) -> told::Place<'_> {
        told::Place::new(&self.folder, self.transcripts.as_deref(), &scene.lane)
    }

    async fn answered(&self, scene: Scene) -> Advice {
        let event = if scene.parent().is_some() { Event::SubagentStop } else { Event::Stop };
        let agent = scene.agent().cloned().unwrap_or_default();
        let mut said = self.ask(event, &agent, &scene, told::answer(&scene)).await;
        said.extend(self.gate(&scene).await);
        advice(said.into_iter().map(Said::advice).collect())
    }

    async fn counselled(&self, scene: Scene, about: Counsel) -> Advice {
        let said = match about {
            Counsel::Prompt {} => {
                let more = told::prompt(&scene);
                self.ask(Event::UserPromptSubmit, "", &scene, more).await
            }
            Counsel::Answer { .. } => return self.answered(scene).await,
            Counsel::Pruning { .. } | Counsel::Compaction { .. } => {
                let (trigger, more) = told::compaction(&scene);
                self.ask(Event::PreCompact, trigger, &scene, more).await
            }
            Counsel::Ruling { .. } | Counsel::Summary { .. } => Vec::new(),
        };
        advice(said.into_iter().map(Said::advice).collect())
    }
}

impl Hooks for CommandHooks {
    fn began(&self, scene: Scene) -> Task<'_, Advice> {
        Box::pin(async move {
            let agent = scene.agent().cloned().unwrap_or_default();
            let said = match scene.parent() {
                Some(_) => self.ask(Event::SubagentStart, &agent, &scene, told::nothing()).await,
                None => self.ask(Event::SessionStart, "startup", &scene, told::startup()).await,
            };
            advice(said.into_iter().map(Said::advice).collect())
        })
    }

    fn before(&self, scene: Scene, call: Call) -> Task<'_, Heard> {
        Box::pin(async move {
            let more = told::call(&call);
            let said = self.ask(Event::PreToolUse, &call.tool_use.name, &scene, more).await;
            heard(said.into_iter().map(Said::before).collect())
        })
    }

    fn after(&self, scene: Scene, call: Call, outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(async move {
            let (event, more) = told::outcome(&call, &outcome);
            let said = self.ask(event, &call.tool_use.name, &scene, more).await;
            heard(said.into_iter().map(Said::after).collect())
        })
    }

    fn counsel(&self, scene: Scene, about: Counsel) -> Task<'_, Advice> {
        Box::pin(self.counselled(scene, about))
    }

    fn sampled(&self, scene: Scene) -> Task<'_, ()> {
        Box::pin(async move {
            drop(self.ask(Event::PostSampling, "", &scene, told::answer(&scene)).await);
        })
    }

    fn notified(&self, scene: Scene, question: Question) -> Task<'_, ()> {
        Box::pin(async move {
            let (kind, more) = told::question(&scene, &question);
            drop(self.ask(Event::Notification, kind, &scene, more).await);
        })
    }
}
