//! Hooks that are commands, as `.claude/settings.json` lists them: what happens comes as JSON on
//! their standard input, what they think goes back as exit code or JSON. Exit codes and fields are
//! those of Claude Code; `docs/hooks.md` lists what differs.
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

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use windlass_core::call::Call;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::ids::LaneId;
use windlass_core::outcome::Outcome;
use windlass_core::question::Question;
use windlass_core::settings::HookPoints;
use windlass_runtime::hook_chain::{advice, heard, side_by_side};
use windlass_runtime::ports::{Clock, Heard, Hooks, Scene, SessionEndReason, Task};

use config::{Event, Hook, OnFailure};
use said::Said;

/// Hooks that are commands.
pub struct CommandHooks {
    config: HookConfig,
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    /// Conversations that this process has taken up and is not done with.
    sessions: Mutex<HashSet<LaneId>>,
    /// Tells the user what a hook did not say to the model.
    tell: Option<TellUser>,
}

/// Takes what the user is to read.
type TellUser = Box<dyn Fn(&str) + Send + Sync>;

/// Conversations that are kept in mind at once.
const MAX_SESSIONS: usize = 10_000;

impl CommandHooks {
    /// Hooks of this configuration, run in `folder`.
    #[must_use]
    pub fn new(config: HookConfig, folder: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let (sessions, tell) = (Mutex::default(), None);
        Self { config, folder: folder.into(), clock, sessions, tell }
    }

    /// Gives what the user should read to `tell`: messages of hooks, and why one failed. Without it
    /// nobody hears of them.
    #[must_use]
    pub fn telling(mut self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.tell = Some(Box::new(tell));
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
        if self.config.fitting(event, subject).next().is_none() {
            return Vec::new();
        }
        let input = told::json(event, scene, &self.folder, more);
        self.ask_with(event, subject, &input).await
    }

    async fn ask_with(&self, event: Event, subject: &str, input: &Value) -> Vec<Said> {
        let run = |hook: &Hook| -> Task<'_, Said> {
            let (hook, subject, input) = (hook.clone(), subject.to_owned(), input.clone());
            Box::pin(async move { self.run(event, &subject, &hook, &input).await })
        };
        side_by_side(self.config.fitting(event, subject).map(run).collect()).await
    }

    async fn run(&self, event: Event, subject: &str, hook: &Hook, input: &Value) -> Said {
        let job = shell::Job {
            command: &hook.command,
            folder: &self.folder,
            input: input.to_string().into_bytes(),
            timeout_ms: hook.timeout_ms,
        };
        let ended = shell::run(job, self.clock.as_ref()).await;
        let name = named(event, subject);
        let mut said = match (Said::of(event, &hook.command, input, ended), hook.on_failure) {
            (Ok(said), _) => said,
            (Err(why), OnFailure::Block) => Said::deny(&format!("the hook {why}")),
            (Err(why), OnFailure::Ignore) => {
                self.tell(&format!("{name} hook error (not blocking): {why}"));
                Said::default()
            }
        };
        for message in said.take_messages(event) {
            self.tell(&format!("{name} hook says: {message}"));
        }
        said
    }

    fn tell(&self, text: &str) {
        if let Some(tell) = &self.tell {
            tell(text);
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashSet<LaneId>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this process works on a conversation; gives whether it did so before.
    fn is_known(&self, lane: &LaneId) -> bool {
        let mut sessions = self.sessions();
        if sessions.len() >= MAX_SESSIONS {
            sessions.clear();
        }
        !sessions.insert(lane.clone())
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
            input: told::json(Event::Stop, scene, &self.folder, more).to_string().into_bytes(),
            timeout_ms: config::TIMEOUT_MS,
        };
        let ended = shell::run(job, self.clock.as_ref()).await;
        vec![Said::of_gate(&command, ended)]
    }

    async fn answered(&self, scene: Scene) -> Advice {
        let (event, agent) = match scene.parent() {
            Some(_) => (Event::SubagentStop, scene.agent().cloned().unwrap_or_default()),
            None => (Event::Stop, Arc::default()),
        };
        let mut said = self.ask(event, &agent, &scene, told::answer(&scene)).await;
        said.extend(self.gate(&scene).await);
        advice(said.into_iter().map(Said::advice).collect())
    }

    async fn counselled(&self, scene: Scene, about: Counsel) -> Advice {
        let said = match about {
            Counsel::Prompt {} => self.prompted(&scene).await,
            Counsel::Answer { .. } => return self.answered(scene).await,
            Counsel::Pruning { .. } | Counsel::Compaction { .. } => {
                let (trigger, more) = told::compaction(&scene);
                self.ask(Event::PreCompact, trigger, &scene, more).await
            }
            Counsel::Ruling { .. } | Counsel::Summary { .. } => Vec::new(),
        };
        advice(said.into_iter().map(Said::advice).collect())
    }

    /// A prompt of a conversation that began elsewhere resumes its session here.
    async fn prompted(&self, scene: &Scene) -> Vec<Said> {
        let mut said = Vec::new();
        if scene.parent().is_none() && !self.is_known(&scene.lane) && !scene.is_first_run() {
            said = self.start_session(scene, "resume").await;
        }
        said.extend(self.ask(Event::UserPromptSubmit, "", scene, told::prompt(scene)).await);
        said
    }

    async fn start_session(&self, scene: &Scene, source: &str) -> Vec<Said> {
        self.ask(Event::SessionStart, source, scene, told::session_start(source)).await
    }
}

/// A hook as users know it: its event, and what it is about.
fn named(event: Event, subject: &str) -> String {
    match subject {
        "" => event.name().to_owned(),
        subject => format!("{}:{subject}", event.name()),
    }
}

impl Hooks for CommandHooks {
    fn began(&self, scene: Scene) -> Task<'_, Advice> {
        Box::pin(async move {
            let agent = scene.agent().cloned().unwrap_or_default();
            let said = match scene.parent() {
                Some(_) => self.ask(Event::SubagentStart, &agent, &scene, told::nothing()).await,
                None => {
                    self.is_known(&scene.lane);
                    self.start_session(&scene, "startup").await
                }
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
            let subject = named(event, &call.tool_use.name);
            heard(said.into_iter().map(|said| said.after(&subject)).collect())
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

    fn session_ended(&self, lane: LaneId, reason: SessionEndReason) -> Task<'_, ()> {
        Box::pin(async move {
            self.sessions().remove(&lane);
            let input = told::session_end(&lane, reason, &self.folder);
            drop(self.ask_with(Event::SessionEnd, reason.name(), &input).await);
        })
    }
}
