//! Messages of `windlass doctor`.

use std::path::Path;

use windlass::core::log::ids::LaneId;
use windlass::{ModelSettings, RetentionPolicy};

use crate::config::trust::folder_trust::FolderTrust;
use crate::messages::folder_name;
use crate::terminal::number_format::{
    count_irregular_noun, count_noun, format_bytes, format_dollars, group_digits,
};

/// Maximum number of conversations named on one line.
const MAX_NAMES: usize = 5;

pub(crate) const NO_MODEL_CHOSEN: &str = "no model chosen; set a key, give --model NAME (`sonnet`, \
     `openai:…`, `ollama:…`) or set `model` in config.toml";
pub(crate) const NO_DAMAGE: &str = "no damage found";
pub(crate) const NO_OPEN_QUESTIONS: &str = "no run needs an answer";

pub(crate) fn default_model(model: &ModelSettings, says: &str) -> String {
    let ModelSettings { name, window_tokens, price, .. } = model;
    let window = group_digits(*window_tokens);
    let price = match price {
        Some(price) => {
            let (input, output) =
                (format_dollars(price.input_usd_micros), format_dollars(price.output_usd_micros));
            format!("{input} in and {output} out per million tokens")
        }
        None => format!("price unknown (give it in [models.{name:?}] of config.toml)"),
    };
    format!(
        "{name} (from {says}): a window of {window} tokens, {price}; choose another with --model NAME; no network request was made"
    )
}

pub(crate) fn agent_names(names: &[&str]) -> String {
    format!("available sub-agents: {}", names.join(", "))
}

pub(crate) fn file_ignored(page: &Path, reason: &str) -> String {
    format!("{} is ignored: {reason}", page.display())
}

pub(crate) fn key_set(provider: &str, address: &str) -> String {
    format!("{provider}: key set; endpoint {address}")
}

pub(crate) fn no_key(missing: &[String]) -> String {
    let missing = missing.join("; ");
    format!("{missing}; a local model (`ollama:NAME`) and a script (--script FILE) need none")
}

pub(crate) fn retention(keep: &RetentionPolicy) -> String {
    let RetentionPolicy { raw_days, trace_days, tenants_without_raw } = keep;
    let but = match tenants_without_raw.is_empty() {
        true => String::new(),
        false => {
            let tenants: Vec<&str> = tenants_without_raw.iter().map(|tenant| &**tenant).collect();
            format!(", except of {}", tenants.join(", "))
        }
    };
    format!(
        "raw responses {}{but}, trace {}, conversations without limit; change it with `[keep]` in \
         config.toml",
        count_noun(u64::from(*raw_days), "day"),
        count_noun(u64::from(*trace_days), "day"),
    )
}

pub(crate) fn store_opened(path: &Path, schema: i64, size: u64) -> String {
    format!("{} opened; schema {schema}, {}", path.display(), format_bytes(size))
}

pub(crate) fn store_will_be_created(path: &Path) -> String {
    format!("{} does not exist yet; the first run creates it", path.display())
}

pub(crate) fn store_cannot_be_created(path: &Path, folder: &Path) -> String {
    let (place, folder) = (path.display(), folder.display());
    format!(
        "{place} cannot be created: {folder} is not a writable folder; set WINDLASS_HOME or give \
         --store FILE"
    )
}

pub(crate) fn free_space_unknown(folder: &Path, error: &str) -> String {
    format!("the space left at {} is not known ({error})", folder.display())
}

pub(crate) fn no_space(folder: &Path, free: u64) -> String {
    let (folder, free) = (folder.display(), format_bytes(free));
    format!("only {free} left at {folder}; free some space before the next run")
}

pub(crate) fn low_space(folder: &Path, free: u64) -> String {
    format!("{} left at {}; free some space soon", format_bytes(free), folder.display())
}

pub(crate) fn free_space(folder: &Path, free: u64) -> String {
    format!("{} left at {}", format_bytes(free), folder.display())
}

pub(crate) fn runs_needing_answers(lanes: &[&LaneId]) -> String {
    let runs = count_noun(lanes.len() as u64, "run");
    format!("{runs} waiting for you: {}; see `windlass explain ID`", join_lanes(lanes))
}

pub(crate) fn running_runs(count: usize) -> String {
    match count {
        0 => "no run is interrupted".to_owned(),
        count => format!("{} running, none is interrupted", count_noun(count as u64, "run")),
    }
}

pub(crate) fn interrupted_runs(lanes: &[&LaneId]) -> String {
    let runs = count_noun(lanes.len() as u64, "run");
    format!("{runs} interrupted: {}; continue with `windlass resume ID`", join_lanes(lanes))
}

fn join_lanes(lanes: &[&LaneId]) -> String {
    let names: Vec<&str> = lanes.iter().take(MAX_NAMES).map(|lane| lane.as_str()).collect();
    let more = if lanes.len() > MAX_NAMES { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

pub(crate) fn logs_readable(count: usize) -> String {
    format!("{} read to the end", count_noun(count as u64, "newest log"))
}

pub(crate) fn path_status(what: &str, path: &Path) -> String {
    let there = if path.exists() { "" } else { " (does not exist)" };
    format!("{what}: {}{there}", path.display())
}

pub(crate) const NO_CONFIG: &str = "no home folder found, so there is no config.toml";
pub(crate) const NO_ORPHANS: &str = "no orphaned processes";

pub(crate) fn settings_problem(file: &Path, problem: &str) -> String {
    format!("{}: {problem}", file.display())
}

pub(crate) fn settings_without_effect(file: &Path, names: &[String]) -> String {
    format!("{}: accepted without effect: {}", file.display(), names.join(", "))
}

pub(crate) fn folder_trusted(folder: &Path) -> String {
    format!("{} is trusted; `windlass trust --revoke` ends that", folder_name(folder))
}

pub(crate) fn folder_untrusted(folder: &FolderTrust) -> String {
    let changed = match folder.changed.as_slice() {
        [] => "is not trusted".to_owned(),
        changed => format!("changed since you trusted it ({})", changed.join(", ")),
    };
    format!(
        "{} {changed}, so only its deny and ask rules apply; `windlass trust` would enable:",
        folder_name(&folder.folder)
    )
}

pub(crate) fn orphaned_processes(count: usize) -> String {
    let commands = count_irregular_noun(count as u64, "process", "processes");
    let them = if count == 1 { "it" } else { "them" };
    format!(
        "{commands} still running after the end of the run that started {them}; the next run stops what is left"
    )
}

pub(crate) fn scratch_space(folder: &Path, conversations: usize, size: u64, more: bool) -> String {
    let conversations = count_noun(conversations as u64, "conversation");
    let at_least = if more { "at least " } else { "" };
    let (folder, size) = (folder.display(), format_bytes(size));
    format!(
        "state of tools: {at_least}{size} for {conversations} in {folder}; old files can be removed while nothing runs"
    )
}

pub(crate) fn server_responds(location: &str) -> String {
    format!("{location} responds")
}

pub(crate) fn server_unreachable(location: &str, error: &str) -> String {
    format!("{location} is not responding ({error}); check the address and the server")
}

/// The number of live workers.
pub(crate) fn worker_count(count: usize) -> String {
    match count {
        0 => "no worker is running".to_owned(),
        1 => "1 worker is running".to_owned(),
        count => format!("{count} workers are running"),
    }
}

/// A workspace id that live workers have at different paths.
pub(crate) fn ambiguous_workspace(id: &str, places: &[String]) -> String {
    format!(
        "the workspace id {id} is served from different folders: {}; if they are copies, delete the \
         file workspace-id (in .git/windlass or .windlass) of all but one",
        places.join(", ")
    )
}

/// A profile with which no run can start.
pub(crate) fn bad_profile(name: &str, reason: &str) -> String {
    format!("the profile {name} of config.toml is not valid: {reason}")
}
