//! The tools every lane has, told apart by name: what each is known to be.

use std::sync::Arc;

use windlass_core::block::ToolUse;
use windlass_core::budget::Price;
use windlass_core::child::Task;
use windlass_core::facts::{AnsweredBy, Facts, Interrupt, Repeat, Verify};
use windlass_core::journal::{Change, Wish};
use windlass_core::order::Touches;
use windlass_core::outcome::ToolError;
use windlass_core::permission::Rule;
use windlass_core::raw::Raw;
use windlass_core::settings::{Model, Settings, ToolSpec};
use windlass_core::window::Summariser;

/// Settings of a lane. Denied: `rm`. Asked: `deploy` and whatever no rule names. Allowed: the rest.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::new(Model::named("scripted"));
    settings.system = Arc::from("You haul.");
    settings.window.summariser = Summariser::Nobody;
    settings.limits.provider_wait_ms = 0;
    settings.times = None;
    settings.tools = ["read", "write", "bash", "send"].map(spec).to_vec();
    settings.rules.deny = vec![rule("rm")];
    settings.rules.ask = vec![rule("deploy")];
    settings.rules.allow =
        ["read", "write", "bash", "send", "fetch", "upload", "ask_human", "sleep"]
            .map(rule)
            .to_vec();
    settings
}

/// A dollar per million tokens of input, five of output.
pub(crate) fn price() -> Price {
    Price {
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
        input_schema: Raw::parse(r#"{"type":"object"}"#).unwrap(),
    }
}

/// What is known of a call, by its tool:
/// `read` and `fetch` read (repeatable), `write` writes once, `bash` and `deploy` are exclusive,
/// `send` writes and can tell afterwards, `upload` writes repeatably, `sleep` reads interruptibly,
/// `ask_human` is answered by a human, `note` and `notes` by the journal, `spawn` by as many children
/// as `on` has words; `answer` gives the answer, if `on` is not empty; any other does not exist.
pub(crate) fn facts_for(call: &ToolUse) -> Facts {
    let on = call.input.read::<serde_json::Value>().ok();
    let on = on.and_then(|input| input.get("on")?.as_str().map(Arc::<str>::from));
    let keys: Vec<Arc<str>> = on.into_iter().collect();
    let known = Facts { problem: None, timeout_ms: 120_000, ..Facts::unknown(&call.name) };
    match &*call.name {
        "read" | "fetch" => reading(known, keys),
        "sleep" => Facts { interrupt: Interrupt::Interruptible, ..reading(known, keys) },
        "write" => Facts { touches: Touches::Writes(keys), ..known },
        "send" => Facts { touches: Touches::Writes(keys), verify: Verify::CanTell, ..known },
        "upload" => Facts { touches: Touches::Writes(keys), repeat: Repeat::Repeatable, ..known },
        "ask_human" => Facts { answered_by: AnsweredBy::Human, ..reading(known, keys) },
        "ExitPlanMode" => Facts { answered_by: AnsweredBy::PlanApproval, ..reading(known, keys) },
        "bash" => Facts { interrupt: Interrupt::Interruptible, ..known },
        "deploy" | "rm" => known,
        "notes" => Facts { answered_by: AnsweredBy::Journal, ..reading(known, keys) },
        "note" => noting(known, keys),
        "spawn" => spawning(known, keys),
        "answer" => answering(known, &keys),
        _ => Facts::unknown(&call.name),
    }
}

/// `edit`, `resolve` or `remove`, an entry, the version that was read, and perhaps a text.
fn edited(text: &str) -> Option<Wish> {
    let (verb, rest) = text.split_once(' ')?;
    let (place, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let (entry, version) = place.split_once('@')?;
    let (entry, version) = (entry.parse().ok()?, version.parse().ok()?);
    let change = match verb {
        "edit" => Change::Edit { entry, text: Arc::from(text) },
        "resolve" => Change::Resolve { entry },
        "remove" => Change::Remove { entry },
        _ => return None,
    };
    Some(Wish::ChangeAsOf { version, changes: vec![change] })
}

/// `note` with `field: text`, `list+ text` or `resolve entry@version`.
fn noting(known: Facts, keys: Vec<Arc<str>>) -> Facts {
    let text = keys.first().map_or("", AsRef::as_ref);
    let of = |name: &str| serde_json::from_value(serde_json::Value::from(name)).ok();
    let of_list = |name: &str| serde_json::from_value(serde_json::Value::from(name)).ok();
    let set = text
        .split_once(": ")
        .and_then(|(name, text)| Some(Change::Set { field: of(name)?, text: Arc::from(text) }));
    let append = text.split_once("+ ").and_then(|(name, text)| {
        Some(Change::Append { list: of_list(name)?, text: Arc::from(text) })
    });
    let changes = set.into_iter().chain(append).collect();
    Facts {
        answered_by: AnsweredBy::Journal,
        journal: Some(edited(text).unwrap_or(Wish::Change(changes))),
        ..reading(known, Vec::new())
    }
}

fn spawning(known: Facts, keys: Vec<Arc<str>>) -> Facts {
    let words = keys.iter().flat_map(|key| key.split_whitespace());
    let task = |word: &str| Task::new("scout", word);
    Facts {
        answered_by: AnsweredBy::Children,
        children: words.map(task).collect(),
        ..reading(known, Vec::new())
    }
}

fn answering(known: Facts, keys: &[Arc<str>]) -> Facts {
    let fits = keys.iter().any(|key| !key.is_empty());
    let problem = ToolError::new("invalid_input", "on must not be empty", "say something");
    Facts { problem: (!fits).then_some(problem), ..reading(known, Vec::new()) }
}

fn reading(known: Facts, keys: Vec<Arc<str>>) -> Facts {
    Facts { touches: Touches::Reads(keys), repeat: Repeat::Repeatable, ..known }
}

/// A permission rule.
pub(crate) fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap()
}
