//! Errors of the command line and the store.

use std::path::Path;

use windlass::core::log::ids::LaneId;

use super::call_text::MAX_CALL_CHARS;
use crate::terminal::to_one_line;

/// Error: no agent has the name that `--agent` gives.
pub(crate) fn unknown_agent(name: &str, known: &[&str]) -> String {
    match known {
        [] => format!("unknown agent `{name}`; define it with --agents or in .claude/agents"),
        known => format!("unknown agent `{name}`; available: {}", known.join(", ")),
    }
}

/// Error: the model of a sub-agent is not known.
pub(crate) fn unknown_agent_model(name: &str) -> String {
    format!("unknown model of the agent {name}; change its `model`")
}

/// Error: the typed word is neither a command nor a prompt.
pub(crate) fn unknown_command(typed: Option<&str>) -> String {
    let what = typed.map_or("PROMPT", |typed| typed.lines().next().unwrap_or_default());
    let what = to_one_line(what, MAX_CALL_CHARS).replace('"', "'");
    format!("to run a prompt: `windlass -p \"{what}\"`; for the commands see `windlass --help`")
}

/// Error: the typed word is similar to a command.
pub(crate) fn similar_command(typed: &str, command: &str) -> String {
    let typed = to_one_line(typed, MAX_CALL_CHARS);
    format!("unknown command `{typed}`; did you mean `windlass {command}`?")
}

/// Error: a command after options, where only a prompt is allowed.
pub(crate) fn command_after_options(command: &str) -> String {
    format!(
        "the command comes first and its options after it: `windlass {command} …`; if `{command}` is \
         the prompt, write `windlass -p {command}`"
    )
}

/// Message: there are no runs, because the named store does not exist.
pub(crate) fn store_missing(path: &Path) -> String {
    format!("no runs yet: there is no store at {}; the first run creates it", path.display())
}

/// Error: the scheme of the store's address is unknown.
pub(crate) fn unknown_store_scheme(scheme: &str, given: &str) -> String {
    format!(
        "{given} names an unknown kind of store, `{scheme}:`; give a file, or \
         postgres://USER@HOST/DATABASE"
    )
}

/// Message: the store has no runs.
pub(crate) const NO_RUNS: &str = "no runs yet; start one with `windlass -p \"…\"`";

/// Message: no run matches the filter.
pub(crate) const NO_MATCHING_RUNS: &str =
    "no matching runs; `windlass runs` without filters lists all";

/// Error: a flag that cannot be sent with a detached prompt.
pub(crate) fn not_detached(flag: &str) -> String {
    format!("{flag} cannot be combined with --detach; give it to the worker instead")
}

/// Error: a flag that would apply to another run, too.
pub(crate) fn not_behind(flag: &str, lane: &LaneId) -> String {
    format!(
        "{flag} would also count for the unfinished run of this conversation; finish that run with \
         windlass resume {lane}, or begin a new conversation"
    )
}
