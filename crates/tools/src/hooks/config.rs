//! Which command runs when, as `.claude/settings.json` says.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_core::raw::sha256_hex;
use windlass_core::settings::{HookPoints, Listening};

use crate::nearest::nearest_name;

/// How long a hook may take unless it says otherwise.
pub(super) const TIMEOUT_MS: u64 = 60_000;

/// The longest time a hook may ask for.
const MAX_TIMEOUT_MS: u64 = 600_000;

/// The same for hooks that a process waits for before it exits.
const EXIT_TIMEOUT_MS: u64 = 1_500;
const MAX_EXIT_TIMEOUT_MS: u64 = 60_000;

/// Bytes of a configuration.
const MAX_BYTES: usize = 1024 * 1024;

/// Hooks of one configuration.
const MAX_HOOKS: usize = 256;

/// Bytes a matcher may take when it is made ready: one that needs more is not a matcher.
const MATCHER_BYTES: usize = 256 * 1024;

/// What happens that a hook can be about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    SessionStart,
    SessionEnd,
    UserPromptSubmit,
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PostSampling,
    Stop,
    SubagentStart,
    SubagentStop,
    PreCompact,
    Notification,
}

const EVENTS: [(Event, &str); 12] = [
    (Event::SessionStart, "SessionStart"),
    (Event::SessionEnd, "SessionEnd"),
    (Event::UserPromptSubmit, "UserPromptSubmit"),
    (Event::PreToolUse, "PreToolUse"),
    (Event::PostToolUse, "PostToolUse"),
    (Event::PostToolUseFailure, "PostToolUseFailure"),
    (Event::PostSampling, "PostSampling"),
    (Event::Stop, "Stop"),
    (Event::SubagentStart, "SubagentStart"),
    (Event::SubagentStop, "SubagentStop"),
    (Event::PreCompact, "PreCompact"),
    (Event::Notification, "Notification"),
];

impl Event {
    pub(super) fn name(self) -> &'static str {
        EVENTS.iter().find(|(event, _)| *event == self).map_or("", |(_, name)| name)
    }

    fn named(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(_, known)| *known == name).map(|(event, _)| *event)
    }

    /// Whether exit code 2 or a decision holds something back. What other hooks say against the event
    /// is for the user to read.
    pub(super) fn can_block(self) -> bool {
        match self {
            Self::UserPromptSubmit
            | Self::PreToolUse
            | Self::PostToolUse
            | Self::PostToolUseFailure
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact => true,
            Self::SessionStart
            | Self::SessionEnd
            | Self::PostSampling
            | Self::SubagentStart
            | Self::Notification => false,
        }
    }

    /// How long a hook may take that does not say so, and the longest time it may ask for.
    fn timeouts_ms(self) -> (u64, u64) {
        match self {
            Self::SessionEnd => (EXIT_TIMEOUT_MS, MAX_EXIT_TIMEOUT_MS),
            _ => (TIMEOUT_MS, MAX_TIMEOUT_MS),
        }
    }

    /// What a matcher of the event can name: what happens here, and what Claude Code has besides.
    /// `None` where that is not known.
    fn subjects(self) -> Option<(&'static [&'static str], &'static [&'static str])> {
        match self {
            Self::SessionStart => Some((&["startup", "resume"], &["clear", "compact"])),
            Self::SessionEnd => Some((
                &["clear", "other"],
                &["bypass_permissions_disabled", "logout", "prompt_input_exit", "resume"],
            )),
            Self::PreCompact => Some((&["manual", "auto"], &[])),
            Self::Notification => Some((
                &["permission_prompt", "elicitation_dialog"],
                &["auth_success", "elicitation_complete", "elicitation_response", "idle_prompt"],
            )),
            _ => None,
        }
    }

    /// Whether the event is about a call of a tool.
    fn is_of_tool(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PostToolUse | Self::PostToolUseFailure)
    }

    /// Whether the event is about something a matcher can be about.
    fn has_subject(self) -> bool {
        !matches!(self, Self::UserPromptSubmit | Self::Stop | Self::PostSampling)
    }
}

/// Which hooks run when. Read once; it does not change with its file.
#[derive(Debug, Clone, Default)]
pub struct HookConfig {
    hooks: BTreeMap<Event, Vec<Hook>>,
    ignored: Vec<IgnoredHook>,
    /// Tools that matchers name.
    tools: Vec<String>,
    hash: String,
}

/// Something in a configuration that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IgnoredHook {
    /// Claude Code knows it, and this program does not yet.
    Elsewhere(String),
    /// Nobody knows it.
    Unknown(String),
}

/// Events that Claude Code has besides.
const EVENTS_ELSEWHERE: &[&str] = &[
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "FileChanged",
    "InstructionsLoaded",
    "MessageDisplay",
    "PermissionDenied",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PreModelSwitch",
    "Setup",
    "StopFailure",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "UserPromptExpansion",
    "WorktreeCreate",
    "WorktreeRemove",
];

/// Kinds of hooks: the one that runs here, and those of Claude Code.
const KINDS: [&str; 1] = ["command"];
const KINDS_ELSEWHERE: &[&str] = &["agent", "http", "mcp_tool", "prompt"];

/// Keys of a group of hooks.
const GROUP_KEYS: [&str; 3] = ["matcher", "hooks", "onFailure"];

/// Keys of a hook: those that count here, and those of Claude Code.
const HOOK_KEYS: [&str; 3] = ["type", "command", "timeout"];
const HOOK_KEYS_ELSEWHERE: &[&str] = &[
    "allowedEnvVars",
    "args",
    "async",
    "asyncRewake",
    "asyncTimeout",
    "headers",
    "if",
    "model",
    "once",
    "prompt",
    "server",
    "shell",
    "statusMessage",
    "tool",
    "url",
];

/// One command.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    matcher: Matcher,
    pub(super) command: String,
    pub(super) timeout_ms: u64,
    pub(super) on_failure: OnFailure,
}

/// What it means that a hook could not be run, took too long, or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnFailure {
    /// It counts as exit code 2.
    Block,
    /// The user is told, and nothing is held back.
    Ignore,
}

#[derive(Debug, Clone)]
enum Matcher {
    Everything,
    Names(Vec<String>),
    Pattern(Regex),
}

/// A configuration that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the hooks cannot be read: {0}")]
pub struct BadHooks(String);

#[derive(Deserialize)]
struct Group {
    matcher: Option<String>,
    hooks: Vec<Value>,
    #[serde(rename = "onFailure")]
    on_failure: Option<String>,
}

#[derive(Deserialize)]
struct Command {
    command: String,
    timeout: Option<f64>,
}

impl HookConfig {
    /// Reads a settings file, or the object under its `hooks`.
    pub fn parse(text: &str) -> Result<Self, BadHooks> {
        if text.len() > MAX_BYTES {
            return Err(BadHooks(format!("they have more than {MAX_BYTES} bytes")));
        }
        let whole: Value =
            serde_json::from_str(text).map_err(|error| BadHooks(format!("{error}")))?;
        let hooks = whole.get("hooks").unwrap_or(&whole);
        let Some(events) = hooks.as_object() else {
            return Err(BadHooks("they are an object of events, such as PreToolUse".to_owned()));
        };
        let mut config = Self { hash: sha256_hex(text.as_bytes()), ..Self::default() };
        for (name, groups) in events {
            match Event::named(name) {
                Some(event) => config.take(event, groups)?,
                None => {
                    let events = EVENTS.map(|(_, event)| event);
                    config.pass_over("hook event", name, &events, EVENTS_ELSEWHERE)?;
                }
            }
        }
        Ok(config)
    }

    fn take(&mut self, event: Event, groups: &Value) -> Result<(), BadHooks> {
        let at = |why: String| BadHooks(format!("{}: {why}", event.name()));
        let keys = |of: &Value| of.as_object().into_iter().flat_map(Map::keys).cloned().collect();
        for group in groups.as_array().into_iter().flatten() {
            let keys: Vec<String> = keys(group);
            for key in keys.iter().filter(|key| !GROUP_KEYS.contains(&key.as_str())) {
                self.pass_over("key of a group of hooks", key, &GROUP_KEYS, &[])?;
            }
        }
        let groups: Vec<Group> =
            Deserialize::deserialize(groups).map_err(|error| at(format!("{error}")))?;
        for group in groups {
            let matcher = Matcher::parse(event, group.matcher.as_deref()).map_err(&at)?;
            self.check_names(event, &matcher)?;
            let on_failure = OnFailure::parse(group.on_failure.as_deref()).map_err(&at)?;
            for hook in &group.hooks {
                let kind = hook.get("type").and_then(Value::as_str);
                let kind = kind.ok_or_else(|| at("a hook has no `type`".to_owned()))?;
                if kind != "command" {
                    self.pass_over("type of hook", kind, &KINDS, KINDS_ELSEWHERE)?;
                    continue;
                }
                let keys: Vec<String> = keys(hook);
                for key in keys.iter().filter(|key| !HOOK_KEYS.contains(&key.as_str())) {
                    self.pass_over("key of a hook", key, &HOOK_KEYS, HOOK_KEYS_ELSEWHERE)?;
                }
                let hook: Command =
                    Deserialize::deserialize(hook).map_err(|error| at(format!("{error}")))?;
                let hook = Hook::new(event, matcher.clone(), hook, on_failure).map_err(&at)?;
                self.hooks.entry(event).or_default().push(hook);
            }
        }
        if self.hooks.values().map(Vec::len).sum::<usize>() > MAX_HOOKS {
            return Err(BadHooks(format!("there are more than {MAX_HOOKS} of them")));
        }
        Ok(())
    }

    /// A matcher that names nothing which happens would be a hook that never runs.
    fn check_names(&mut self, event: Event, matcher: &Matcher) -> Result<(), BadHooks> {
        let Matcher::Names(names) = matcher else { return Ok(()) };
        if event.is_of_tool() {
            self.tools.extend(names.iter().cloned());
        }
        let Some((known, elsewhere)) = event.subjects() else { return Ok(()) };
        for name in names.iter().filter(|name| !known.contains(&name.as_str())) {
            let what = format!("matcher of {}", event.name());
            self.pass_over(&what, name, known, elsewhere)?;
        }
        Ok(())
    }

    /// The tools that matchers name, in the order of the configuration. Patterns name none.
    #[must_use]
    pub fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Remembers a name that has no effect. One that is almost a known one was meant to have one.
    fn pass_over(
        &mut self,
        what: &str,
        name: &str,
        known: &[&str],
        elsewhere: &[&str],
    ) -> Result<(), BadHooks> {
        let named = format!("{what} `{name}`");
        if elsewhere.contains(&name) {
            self.ignored.push(IgnoredHook::Elsewhere(named));
        } else if let Some(near) = nearest_name(name, known.iter().chain(elsewhere).copied()) {
            return Err(BadHooks(format!("unknown {named}; did you mean `{near}`?")));
        } else {
            self.ignored.push(IgnoredHook::Unknown(named));
        }
        Ok(())
    }

    /// What has no effect here.
    #[must_use]
    pub fn ignored(&self) -> &[IgnoredHook] {
        &self.ignored
    }

    /// The SHA-256 of what was read.
    #[must_use]
    pub fn hash(&self) -> &str {
        &self.hash
    }

    pub(super) fn fitting(&self, event: Event, subject: &str) -> impl Iterator<Item = &Hook> {
        let hooks = self.hooks.get(&event).map(Vec::as_slice).unwrap_or_default();
        hooks.iter().filter(move |hook| hook.matcher.fits(subject))
    }

    pub(super) fn longest_ms(&self) -> u64 {
        self.hooks.values().flatten().map(|hook| hook.timeout_ms).max().unwrap_or(0)
    }

    /// Where somebody listens.
    pub(super) fn points(&self) -> HookPoints {
        let at = |events: &[Event]| match events.iter().any(|event| self.hooks.contains_key(event))
        {
            true => Listening::Hooked,
            false => Listening::Nobody,
        };
        HookPoints {
            before_tool: at(&[Event::PreToolUse]),
            after_tool: at(&[Event::PostToolUse, Event::PostToolUseFailure]),
            prompt: at(&[Event::UserPromptSubmit, Event::SessionStart, Event::SubagentStart]),
            answer: at(&[Event::Stop, Event::SubagentStop, Event::PostSampling]),
            compaction: at(&[Event::PreCompact]),
        }
    }
}

impl Hook {
    fn new(
        event: Event,
        matcher: Matcher,
        hook: Command,
        on_failure: OnFailure,
    ) -> Result<Self, String> {
        if hook.command.trim().is_empty() || hook.command.contains('\0') {
            return Err("a command is empty or holds a NUL byte".to_owned());
        }
        let (usual_ms, most_ms) = event.timeouts_ms();
        let timeout_ms = match hook.timeout {
            None => usual_ms,
            Some(seconds) if seconds > 0.0 && seconds.is_finite() => {
                // Seconds as people write them; anything larger is cut by the bound.
                let ms = (seconds * 1_000.0).min(most_ms as f64);
                (ms as u64).max(1)
            }
            Some(seconds) => {
                return Err(format!(
                    "a timeout of {seconds} seconds is not valid; use more than 0"
                ));
            }
        };
        Ok(Self { matcher, command: hook.command, timeout_ms, on_failure })
    }
}

impl OnFailure {
    fn parse(text: Option<&str>) -> Result<Self, String> {
        match text {
            Some("block") => Ok(Self::Block),
            Some("ignore") | None => Ok(Self::Ignore),
            Some(other) => Err(format!("onFailure is block or ignore, not {other}")),
        }
    }
}

impl Matcher {
    fn parse(event: Event, text: Option<&str>) -> Result<Self, String> {
        let text = text.unwrap_or_default();
        if text.is_empty() || text == "*" || !event.has_subject() {
            return Ok(Self::Everything);
        }
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | ' ' | ',');
        if text.chars().all(plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.collect()));
        }
        // As Claude Code has it, a pattern may match a part of the name: `^Notebook`.
        let pattern = RegexBuilder::new(text).size_limit(MATCHER_BYTES).build();
        pattern.map(Self::Pattern).map_err(|_| {
            format!(
                "the matcher {text} is not a regular expression, or too large a one; write for example \
                 `Bash`, `Edit|Write` or `mcp__.*`"
            )
        })
    }

    /// A tool that others know by another name is matched by both.
    fn fits(&self, subject: &str) -> bool {
        let alias = (subject == "Agent").then_some("Task");
        [Some(subject), alias].into_iter().flatten().any(|subject| match self {
            Self::Everything => true,
            Self::Names(names) => names.iter().any(|name| name == subject),
            Self::Pattern(pattern) => pattern.is_match(subject),
        })
    }
}
