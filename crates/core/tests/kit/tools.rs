//! The tools every lane has, distinguished by name, and their facts.

use std::sync::Arc;

use windlass_core::budget::spending::ModelPrice;
use windlass_core::call::call_facts::{
    AnsweredBy, CallFacts, Interruptibility, ProbeSupport, Repeatability,
};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::ToolError;
use windlass_core::context::Summariser;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{CallSubject, PermissionRule, ShellCommand, SimpleCommand};
use windlass_core::run::child_runs::ChildTask;
use windlass_core::run::journal::{JournalChange, JournalRequest};
use windlass_core::settings::conversation_settings::{ModelSpec, Settings, ToolSpec};

/// Settings of a lane. Denied: `rm`. Needs approval: `deploy` and whatever no rule names. Allowed:
/// the rest.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::new(ModelSpec::with_defaults("scripted"));
    settings.system = Arc::from("You haul.");
    settings.window.summariser = Summariser::Off;
    settings.limits.provider_wait_ms = 0;
    settings.times = None;
    settings.tools = ["read", "write", "bash", "send"].map(spec).to_vec();
    settings.rules.deny = vec![rule("rm")];
    settings.rules.ask = vec![rule("deploy")];
    settings.rules.allow =
        ["read", "write", "bash", "send", "fetch", "upload", "ask_human", "sleep", "shell", "web"]
            .map(rule)
            .to_vec();
    settings
}

/// A dollar per million tokens of input, five of output.
pub(crate) fn price() -> ModelPrice {
    ModelPrice {
        input_usd_micros: 1_000_000,
        output_usd_micros: 5_000_000,
        cache_read_usd_micros: 100_000,
        cache_write_usd_micros: 1_250_000,
        above: None,
    }
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from("a tool"),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
    }
}

/// Returns the facts of a call, by its tool: `read` and `fetch` read (repeatable), `write` writes
/// once, `bash` and `deploy` are exclusive, `send` writes and has a probe, `upload` writes
/// repeatably, `sleep` reads interruptibly, `ask_human` is answered by a human, `note` and `notes`
/// by the journal, `shell` runs the command `on`, `web` reads the host `on`, `spawn` by as many children as `on` has words; `answer` gives the answer, if
/// `on` is not empty; any other does not exist.
pub(crate) fn facts_for(call: &ToolUse) -> CallFacts {
    let on = call.input.read::<serde_json::Value>().ok();
    let on = on.and_then(|input| input.get("on")?.as_str().map(Arc::<str>::from));
    let keys: Vec<Arc<str>> = on.into_iter().collect();
    let known =
        CallFacts { problem: None, timeout_ms: 120_000, ..CallFacts::for_unknown_tool(&call.name) };
    match &*call.name {
        "read" | "fetch" => reading(known, keys),
        "sleep" => CallFacts { interrupt: Interruptibility::Interruptible, ..reading(known, keys) },
        "write" => CallFacts { touches: TouchedResources::Writes(keys), ..known },
        "send" => CallFacts {
            touches: TouchedResources::Writes(keys),
            probe: ProbeSupport::Supported,
            ..known
        },
        "upload" => CallFacts {
            touches: TouchedResources::Writes(keys),
            repeat: Repeatability::Repeatable,
            ..known
        },
        "ask_human" => CallFacts { answered_by: AnsweredBy::Human, ..reading(known, keys) },
        "ExitPlanMode" => {
            CallFacts { answered_by: AnsweredBy::PlanApproval, ..reading(known, keys) }
        }
        "bash" => CallFacts { interrupt: Interruptibility::Interruptible, ..known },
        "deploy" | "rm" => known,
        "shell" => known.with_subject(command(keys.first().map_or("", AsRef::as_ref))),
        "web" => {
            let host = keys.first().cloned().unwrap_or_default();
            reading(known, Vec::new()).with_subject(CallSubject::Domain(host))
        }
        "notes" => CallFacts { answered_by: AnsweredBy::Journal, ..reading(known, keys) },
        "note" => noting(known, keys),
        "spawn" => spawning(known, keys),
        "spawn_background" => CallFacts { children_in_background: true, ..spawning(known, keys) },
        "answer" => answering(known, &keys),
        _ => CallFacts::for_unknown_tool(&call.name),
    }
}

/// One command of these words.
fn command(text: &str) -> CallSubject {
    let commands = vec![SimpleCommand::from_words(text.split_whitespace())];
    ShellCommand { commands, ..ShellCommand::default() }.into()
}

/// `edit`, `resolve` or `remove`, an entry, the version that was read, and perhaps a text.
fn edited(text: &str) -> Option<JournalRequest> {
    let (verb, rest) = text.split_once(' ')?;
    let (location, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let (entry, version) = location.split_once('@')?;
    let (entry, version) = (entry.parse().ok()?, version.parse().ok()?);
    let change = match verb {
        "edit" => JournalChange::Edit { entry, text: Arc::from(text) },
        "resolve" => JournalChange::Resolve { entry },
        "remove" => JournalChange::Remove { entry },
        _ => return None,
    };
    Some(JournalRequest::ChangeIfUnmodified { version, changes: vec![change] })
}

/// `note` with `field: text`, `list+ text` or `resolve entry@version`.
fn noting(known: CallFacts, keys: Vec<Arc<str>>) -> CallFacts {
    let text = keys.first().map_or("", AsRef::as_ref);
    let of = |name: &str| serde_json::from_value(serde_json::Value::from(name)).ok();
    let of_list = |name: &str| serde_json::from_value(serde_json::Value::from(name)).ok();
    let set = text.split_once(": ").and_then(|(name, text)| {
        Some(JournalChange::Set { field: of(name)?, text: Arc::from(text) })
    });
    let append = text.split_once("+ ").and_then(|(name, text)| {
        Some(JournalChange::Append { list: of_list(name)?, text: Arc::from(text) })
    });
    let changes = set.into_iter().chain(append).collect();
    CallFacts {
        answered_by: AnsweredBy::Journal,
        journal: Some(edited(text).unwrap_or(JournalRequest::Change(changes))),
        ..reading(known, Vec::new())
    }
}

fn spawning(known: CallFacts, keys: Vec<Arc<str>>) -> CallFacts {
    let words = keys.iter().flat_map(|key| key.split_whitespace());
    let task = |word: &str| ChildTask::new("scout", word);
    CallFacts {
        answered_by: AnsweredBy::Children,
        children: words.map(task).collect(),
        ..reading(known, Vec::new())
    }
}

fn answering(known: CallFacts, keys: &[Arc<str>]) -> CallFacts {
    let fits = keys.iter().any(|key| !key.is_empty());
    let problem = ToolError::new("invalid_input", "on must not be empty", "say something");
    CallFacts { problem: (!fits).then_some(problem), ..reading(known, Vec::new()) }
}

fn reading(known: CallFacts, keys: Vec<Arc<str>>) -> CallFacts {
    CallFacts { touches: TouchedResources::Reads(keys), repeat: Repeatability::Repeatable, ..known }
}

/// A permission rule.
pub(crate) fn rule(text: &str) -> PermissionRule {
    PermissionRule::parse(text).unwrap()
}
