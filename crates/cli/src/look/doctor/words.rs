//! What the doctor says.

use std::path::Path;

use windlass::core::ids::LaneId;
use windlass::{Keeping, ModelSettings};

use crate::look::numbers::{bytes, counted, counted_of, dollars, grouped};
use crate::settle::trust::FolderTrust;

/// Conversations named in one line.
const MOST_NAMES: usize = 5;

pub(super) const NO_MODEL: &str = "none is chosen; set a key, give --model NAME (`sonnet`, \
     `openai:…`, `ollama:…`) or set `model` in config.toml";
pub(super) const SOUND: &str = "no damage found";
pub(super) const NOBODY_WAITS: &str = "no run needs an answer";

pub(super) fn model(model: &ModelSettings, says: &str) -> String {
    let ModelSettings { name, window_tokens, price, .. } = model;
    let window = grouped(*window_tokens);
    let price = match price {
        Some(price) => {
            let (input, output) =
                (dollars(price.input_usd_micros), dollars(price.output_usd_micros));
            format!("{input} in and {output} out per million tokens")
        }
        None => format!("price unknown (give it in [models.{name:?}] of config.toml)"),
    };
    format!(
        "{name}, as {says} says: a window of {window} tokens, {price}; --model NAME asks another; \
         nothing was asked over the network"
    )
}

pub(super) fn agents(names: &[&str]) -> String {
    format!("available sub-agents: {}", names.join(", "))
}

pub(super) fn left_out(page: &Path, why: &str) -> String {
    format!("{} is left out: {why}", page.display())
}

pub(super) fn key(provider: &str, address: &str) -> String {
    format!("{provider}: set; asked at {address}")
}

pub(super) fn no_key(missing: &[String]) -> String {
    let missing = missing.join("; ");
    format!("{missing}; a local model (`ollama:NAME`) and a script (--script FILE) need none")
}

pub(super) fn kept(keep: &Keeping) -> String {
    let Keeping { raw_days, trace_days, no_raw_of } = keep;
    let but = match no_raw_of.is_empty() {
        true => String::new(),
        false => {
            let tenants: Vec<&str> = no_raw_of.iter().map(|tenant| &**tenant).collect();
            format!(", except of {}", tenants.join(", "))
        }
    };
    format!(
        "raw responses {}{but}, trace {}, conversations without limit; change it with `[keep]` in \
         config.toml",
        counted(u64::from(*raw_days), "day"),
        counted(u64::from(*trace_days), "day"),
    )
}

pub(super) fn opens(place: &Path, schema: i64, size: u64) -> String {
    format!("{} opens; schema {schema}, {}", place.display(), bytes(size))
}

pub(super) fn will_be_made(place: &Path) -> String {
    format!("{} does not exist yet; the first run creates it", place.display())
}

pub(super) fn cannot_be_made(place: &Path, folder: &Path) -> String {
    let (place, folder) = (place.display(), folder.display());
    format!(
        "{place} cannot be created: {folder} is not a writable folder; set WINDLASS_HOME or give \
         --store FILE"
    )
}

pub(super) fn disk_unknown(folder: &Path, error: &str) -> String {
    format!("the space left at {} is not known ({error})", folder.display())
}

pub(super) fn no_space(folder: &Path, free: u64) -> String {
    let (folder, free) = (folder.display(), bytes(free));
    format!("only {free} left at {folder}; free some space before the next run")
}

pub(super) fn little_space(folder: &Path, free: u64) -> String {
    format!("{} left at {}; free some space soon", bytes(free), folder.display())
}

pub(super) fn space(folder: &Path, free: u64) -> String {
    format!("{} left at {}", bytes(free), folder.display())
}

pub(super) fn waiting(lanes: &[&LaneId]) -> String {
    let runs = counted(lanes.len() as u64, "run");
    format!("{runs} waiting for you: {}; see `windlass explain ID`", named(lanes))
}

pub(super) fn at_work(count: usize) -> String {
    match count {
        0 => "no run is interrupted".to_owned(),
        count => format!("{} running, none is interrupted", counted(count as u64, "run")),
    }
}

pub(super) fn left_running(lanes: &[&LaneId]) -> String {
    let runs = counted(lanes.len() as u64, "run");
    format!("{runs} interrupted: {}; continue with `windlass resume ID`", named(lanes))
}

fn named(lanes: &[&LaneId]) -> String {
    let names: Vec<&str> = lanes.iter().take(MOST_NAMES).map(|lane| lane.as_str()).collect();
    let more = if lanes.len() > MOST_NAMES { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

pub(super) fn logs_read(count: usize) -> String {
    format!("{} read to the end", counted(count as u64, "newest log"))
}

pub(super) fn path(what: &str, path: &Path) -> String {
    let there = if path.exists() { "" } else { " (nothing there)" };
    format!("{what}: {}{there}", path.display())
}

pub(super) const NO_CONFIG: &str = "no home folder is known, so there is no config.toml";
pub(super) const NO_ORPHANS: &str = "no orphaned processes";

pub(super) fn bad_settings(file: &Path, problem: &str) -> String {
    format!("{}: {problem}", file.display())
}

pub(super) fn without_effect(file: &Path, names: &[String]) -> String {
    format!("{}: accepted without effect: {}", file.display(), names.join(", "))
}

pub(super) fn trusted(folder: &Path) -> String {
    format!("{} is trusted; `windlass trust --revoke` ends that", folder.display())
}

pub(super) fn untrusted(folder: &FolderTrust) -> String {
    let changed = match folder.changed.as_slice() {
        [] => "is not trusted".to_owned(),
        changed => format!("changed since you trusted it ({})", changed.join(", ")),
    };
    format!(
        "{} {changed}, so only its deny and ask rules count; `windlass trust` would enable:",
        folder.folder.display()
    )
}

pub(super) fn orphans(count: usize) -> String {
    let commands = counted_of(count as u64, "process", "processes");
    let them = if count == 1 { "it" } else { "them" };
    format!("{commands} outlived the run that started {them}; the next run ends what was left")
}

pub(super) fn desks(folder: &Path, desks: usize, size: u64, more: bool) -> String {
    let conversations = counted(desks as u64, "conversation");
    let at_least = if more { "at least " } else { "" };
    let (folder, size) = (folder.display(), bytes(size));
    format!(
        "scratch space of tools: {at_least}{size} for {conversations} in {folder}; old files can be \
         removed while nothing runs"
    )
}

pub(super) fn answers(place: &str) -> String {
    format!("{place} answers")
}

pub(super) fn unreachable(place: &str, error: &str) -> String {
    format!("{place} does not answer ({error}); check the address and the server")
}

/// How many workers there are.
pub(super) fn workers(count: usize) -> String {
    match count {
        0 => "no worker is running".to_owned(),
        1 => "1 worker is running".to_owned(),
        count => format!("{count} workers are running"),
    }
}

/// One id in two places.
pub(super) fn ambiguous_workspace(id: &str, places: &[String]) -> String {
    format!(
        "the workspace id {id} is served from different folders: {}; if they are copies, delete the \
         file workspace-id (in .git/windlass or .windlass) of all but one",
        places.join(", ")
    )
}

/// A profile with which no run can begin.
pub(super) fn bad_profile(name: &str, why: &str) -> String {
    format!("the profile {name} of config.toml is not valid: {why}")
}
