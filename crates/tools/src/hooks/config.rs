//! Hook configuration: which hook runs at which event, as in `.claude/settings.json`; or which
//! callback of a program is called.

mod callback_config;
mod event;
mod hook_entry;
mod matcher;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_core::message::raw_json::sha256_hex;
use windlass_core::permission::{CallSubject, PermissionRule, RuleFolders};
use windlass_core::settings::conversation_settings::{HookPoints, HookPresence};

use super::http_hook::HttpHook;
use crate::name_suggestion::nearest_name;
pub(super) use event::DEFAULT_TIMEOUT_MS;
use event::EVENTS;
pub use event::HookEvent;
use matcher::HookMatcher;

/// Maximum timeout of a callback: the program may ask a person.
const MAX_CALLBACK_TIMEOUT_MS: u64 = 86_400_000;

/// Default timeout of a hook that asks a model.
const PROMPT_TIMEOUT_MS: u64 = 30_000;

/// Maximum size of a configuration in bytes.
const MAX_CONFIG_BYTES: usize = 1024 * 1024;

/// Maximum number of hooks in one configuration.
const MAX_HOOKS: usize = 256;

/// The hook configuration. It is read once; later changes of its file have no effect.
#[derive(Debug, Clone, Default)]
pub struct HookConfig {
    hooks: BTreeMap<HookEvent, Vec<ConfiguredHook>>,
    ignored: Vec<IgnoredHook>,
    /// Tools that matchers name.
    tools: Vec<String>,
    hash: String,
}

/// An entry of a configuration that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoredHook {
    /// An entry that Claude Code supports, and this program does not yet.
    Unsupported(String),
    /// An unknown name.
    Unknown(String),
}

/// Events that only Claude Code has.
const UNSUPPORTED_EVENTS: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "MessageDisplay",
    "Setup",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
];

/// Types of hooks: those that are supported here, and those of Claude Code.
const HOOK_TYPES: [&str; 3] = ["command", "http", "prompt"];
const UNSUPPORTED_HOOK_TYPES: &[&str] = &["agent", "mcp_tool"];

/// Keys of a group of hooks.
const GROUP_KEYS: [&str; 3] = ["matcher", "hooks", "onFailure"];

/// One configured hook.
#[derive(Debug, Clone)]
pub(super) struct ConfiguredHook {
    matcher: HookMatcher,
    pub(super) action: HookAction,
    pub(super) timeout_ms: u64,
    pub(super) on_failure: FailurePolicy,
    /// Whether nothing waits for it.
    pub(super) is_async: bool,
    /// Whether it runs once in a conversation.
    pub(super) runs_once: bool,
    /// The calls for which it runs; all of them without a condition.
    pub(super) condition: Option<PermissionRule>,
    /// Variables for the command.
    pub(super) variables: Vec<(Arc<str>, Arc<str>)>,
}

/// The call that an event is about, as conditions see it.
#[derive(Clone, Copy)]
pub(super) struct CalledTool<'a> {
    pub(super) subject: &'a CallSubject,
    pub(super) folders: RuleFolders<'a>,
}

/// What a hook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookAction {
    /// Runs a command.
    Command(String),
    /// Calls a function of the program, by the id under which it was registered.
    Callback(String),
    /// Sends the event to a URL.
    Http(HttpHook),
    /// Asks a model.
    Prompt(String),
}

/// What happens if a hook could not be started, timed out, or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailurePolicy {
    /// A failure blocks, like exit code 2 of a command.
    Block,
    /// The user is told, and nothing is blocked.
    Ignore,
}

/// The error for an invalid configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid hooks: {0}")]
pub struct InvalidHooks(String);

#[derive(Deserialize)]
struct HookGroup {
    matcher: Option<String>,
    hooks: Vec<Value>,
    #[serde(rename = "onFailure")]
    on_failure: Option<String>,
}

impl HookConfig {
    /// Parses a settings file, or the object under its `hooks`.
    pub fn parse(text: &str) -> Result<Self, InvalidHooks> {
        if text.len() > MAX_CONFIG_BYTES {
            return Err(InvalidHooks(format!("more than {MAX_CONFIG_BYTES} bytes")));
        }
        let whole: Value =
            serde_json::from_str(text).map_err(|error| InvalidHooks(format!("{error}")))?;
        let hooks = whole.get("hooks").unwrap_or(&whole);
        let Some(events) = hooks.as_object() else {
            return Err(InvalidHooks(
                "expected an object of events, such as PreToolUse".to_owned(),
            ));
        };
        let mut config = Self { hash: sha256_hex(text.as_bytes()), ..Self::default() };
        for (name, groups) in events {
            match HookEvent::from_name(name) {
                Some(event) => config.add_groups(event, groups)?,
                None => {
                    let events = EVENTS.map(|(_, event)| event);
                    config.record_ignored("hook event", name, &events, UNSUPPORTED_EVENTS)?;
                }
            }
        }
        Ok(config)
    }

    /// Returns the configuration with a variable for all of its commands.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl AsRef<str>) -> Self {
        let variable = (Arc::from(name), Arc::from(value.as_ref()));
        for hook in self.hooks.values_mut().flatten() {
            hook.variables.push(variable.clone());
        }
        self
    }

    /// Returns the hooks of both configurations, those of `other` last.
    ///
    /// # Errors
    ///
    /// Fails if there are too many.
    pub fn merge(mut self, other: Self) -> Result<Self, InvalidHooks> {
        self.hash = sha256_hex(format!("{}{}", self.hash, other.hash).as_bytes());
        self.ignored.extend(other.ignored);
        self.tools.extend(other.tools);
        for (event, hooks) in other.hooks {
            self.hooks.entry(event).or_default().extend(hooks);
        }
        self.check_count()?;
        Ok(self)
    }

    fn check_count(&self) -> Result<(), InvalidHooks> {
        match self.hooks.values().map(Vec::len).sum::<usize>() > MAX_HOOKS {
            true => Err(InvalidHooks(format!("more than {MAX_HOOKS} hooks"))),
            false => Ok(()),
        }
    }

    fn add_groups(&mut self, event: HookEvent, groups: &Value) -> Result<(), InvalidHooks> {
        let at = |reason: String| InvalidHooks(format!("{}: {reason}", event.name()));
        let keys = |of: &Value| of.as_object().into_iter().flat_map(Map::keys).cloned().collect();
        for group in groups.as_array().into_iter().flatten() {
            let keys: Vec<String> = keys(group);
            for key in keys.iter().filter(|key| !GROUP_KEYS.contains(&key.as_str())) {
                self.record_ignored("key of a group of hooks", key, &GROUP_KEYS, &[])?;
            }
        }
        let groups: Vec<HookGroup> =
            Deserialize::deserialize(groups).map_err(|error| at(format!("{error}")))?;
        for group in groups {
            let matcher = HookMatcher::parse(event, group.matcher.as_deref()).map_err(&at)?;
            self.check_names(event, &matcher)?;
            let on_failure = FailurePolicy::parse(group.on_failure.as_deref()).map_err(&at)?;
            for hook in &group.hooks {
                if let Some(hook) = self.read_hook(event, hook).map_err(&at)? {
                    let hook = ConfiguredHook { matcher: matcher.clone(), on_failure, ..hook };
                    hook.check().map_err(&at)?;
                    self.hooks.entry(event).or_default().push(hook);
                }
            }
        }
        self.check_count()
    }

    /// Checks the names in a matcher: one that names no known subject would make a hook that never
    /// runs.
    fn check_names(&mut self, event: HookEvent, matcher: &HookMatcher) -> Result<(), InvalidHooks> {
        let HookMatcher::Names(names) = matcher else { return Ok(()) };
        if event.is_tool_event() {
            self.tools.extend(names.iter().cloned());
        }
        let Some((known, elsewhere)) = event.matcher_subjects() else { return Ok(()) };
        for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
            let what = format!("matcher of {}", event.name());
            self.record_ignored(&what, name, known, elsewhere)?;
        }
        Ok(())
    }

    /// Returns the tools that matchers name, in the order of the configuration. Patterns name none.
    #[must_use]
    pub fn matched_tools(&self) -> &[String] {
        &self.tools
    }

    /// Records a name that has no effect. One that is similar to a known name is an error, because
    /// it is probably misspelled.
    fn record_ignored(
        &mut self,
        what: &str,
        name: &str,
        known: &[&str],
        elsewhere: &[&str],
    ) -> Result<(), InvalidHooks> {
        let named = format!("{what} `{name}`");
        if elsewhere.contains(&name) {
            self.ignored.push(IgnoredHook::Unsupported(named));
        } else if let Some(near) = nearest_name(name, known.iter().chain(elsewhere).copied()) {
            return Err(InvalidHooks(format!("unknown {named}; did you mean `{near}`?")));
        } else {
            self.ignored.push(IgnoredHook::Unknown(named));
        }
        Ok(())
    }

    /// Returns the entries that have no effect here.
    #[must_use]
    pub fn ignored_entries(&self) -> &[IgnoredHook] {
        &self.ignored
    }

    /// Returns the SHA-256 hash of the configuration that was read.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the hooks of an event that match, with their positions among those of the event.
    pub(super) fn matching_hooks(
        &self,
        event: HookEvent,
        subject: &str,
    ) -> impl Iterator<Item = (usize, &ConfiguredHook)> {
        let hooks = self.hooks.get(&event).map(Vec::as_slice).unwrap_or_default();
        let hooks = hooks.iter().enumerate();
        hooks.filter(move |(_, hook)| hook.matcher.matches_subject(subject))
    }

    pub(super) fn has_hooks(&self, event: HookEvent) -> bool {
        self.hooks.contains_key(&event)
    }

    pub(super) fn max_timeout_ms(&self) -> u64 {
        self.hooks.values().flatten().map(|hook| hook.timeout_ms).max().unwrap_or(0)
    }

    /// Returns the hook points that have hooks.
    pub(super) fn hook_points(&self) -> HookPoints {
        let at = |events: &[HookEvent]| match events
            .iter()
            .any(|event| self.hooks.contains_key(event))
        {
            true => HookPresence::Present,
            false => HookPresence::Absent,
        };
        HookPoints {
            before_tool: at(&[HookEvent::PreToolUse]),
            after_tool: at(&[HookEvent::PostToolUse, HookEvent::PostToolUseFailure]),
            prompt: at(&[
                HookEvent::UserPromptSubmit,
                HookEvent::SessionStart,
                HookEvent::SubagentStart,
                HookEvent::InstructionsLoaded,
            ]),
            answer: at(&[HookEvent::Stop, HookEvent::SubagentStop, HookEvent::PostSampling]),
            compaction: at(&[HookEvent::PreCompact]),
        }
    }
}

impl ConfiguredHook {
    /// Returns whether it runs for a call: what the condition may concern is not left out. A call of
    /// which only the tool is known may be any.
    pub(super) fn is_for_call(&self, tool: &str, call: Option<&CalledTool<'_>>) -> bool {
        self.condition.as_ref().is_none_or(|rule| match call {
            Some(call) => rule.may_concern(tool, call.subject, call.folders),
            None => rule.covers_tool(tool),
        })
    }

    fn new(
        event: HookEvent,
        matcher: HookMatcher,
        (action, timeout): (HookAction, Option<f64>),
        on_failure: FailurePolicy,
    ) -> Result<Self, String> {
        let (usual_ms, most_ms) = match (&action, event.timeouts_ms()) {
            (HookAction::Callback(_), (usual_ms, _)) => (usual_ms, MAX_CALLBACK_TIMEOUT_MS),
            (HookAction::Prompt(_), (usual_ms, most_ms)) => {
                (usual_ms.min(PROMPT_TIMEOUT_MS), most_ms)
            }
            (HookAction::Command(_) | HookAction::Http(_), timeouts) => timeouts,
        };
        let timeout_ms = match timeout {
            None => usual_ms,
            Some(seconds) if seconds > 0.0 && seconds.is_finite() => {
                // Seconds as people write them; larger values are capped.
                let ms = (seconds * 1_000.0).min(most_ms as f64);
                (ms as u64).max(1)
            }
            Some(seconds) => {
                return Err(format!(
                    "a timeout of {seconds} seconds is not valid; use more than 0"
                ));
            }
        };
        let (is_async, runs_once, variables) = (false, false, Vec::new());
        let condition = None;
        Ok(Self {
            matcher,
            action,
            timeout_ms,
            on_failure,
            is_async,
            runs_once,
            condition,
            variables,
        })
    }

    /// Checks that the options fit together.
    fn check(&self) -> Result<(), String> {
        match (self.is_async, self.on_failure) {
            (true, FailurePolicy::Block) => {
                Err("an asynchronous hook cannot block anything; remove `async` or `onFailure`"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl FailurePolicy {
    fn parse(text: Option<&str>) -> Result<Self, String> {
        match text {
            Some("block") => Ok(Self::Block),
            Some("ignore") | None => Ok(Self::Ignore),
            Some(other) => Err(format!("onFailure must be block or ignore, not {other}")),
        }
    }
}
