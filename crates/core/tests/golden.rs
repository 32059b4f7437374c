//! Golden logs: every later version folds them to the same state.
//!
//! `UPDATE_GOLDEN=1 cargo test -p windlass-core` writes logs for stories that have none yet. It
//! never touches a log that exists: old logs keep their meaning for ever.

mod judgement;
mod stories;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use windlass_core::{Conversation, Entry, Input, Record};

use crate::kit::{digest, is_acceptable, judgement_digest, versioned_tag};

/// Every story with its name.
pub(crate) fn stories() -> Vec<(&'static str, crate::kit::Lane)> {
    let mut all = stories::stories();
    all.extend(judgement::stories());
    all
}

/// Tags of records that are applied and never stored.
const NEVER_STORED: &[&str] =
    &["early_call_decided/1", "repeatable_call_started/1", "block_ready/1"];

/// Folder of the logs.
const FOLDER: &str = "tests/logs/v1";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER)
}

/// Returns the path of a story's log.
fn place(story: &str) -> PathBuf {
    folder().join(format!("{story}.jsonl"))
}

fn parse(text: &str) -> Vec<Entry> {
    (1..).zip(text.lines()).map(|(at, line)| Entry::parse(at, line).unwrap()).collect()
}

/// Returns every log on disk with its name.
fn logs() -> Vec<(String, Vec<Entry>)> {
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let mut logs: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, parse(&fs::read_to_string(&path).unwrap()))
        })
        .collect();
    logs.sort_by(|a, b| a.0.cmp(&b.0));
    logs
}

fn write_missing() {
    if std::env::var_os("UPDATE_GOLDEN").is_none() {
        return;
    }
    for (name, lane) in stories() {
        let path = place(name);
        let state = path.with_extension("state");
        if !path.exists() && !state.exists() {
            let lines: String = lane.log.iter().map(|entry| entry.encode() + "\n").collect();
            fs::write(path, lines).unwrap();
            let folded = Conversation::replay(&lane.log).unwrap();
            fs::write(state, digest(&folded, lane.log.len()) + &judgement_digest(&folded)).unwrap();
        }
    }
}

// spec: LOG-01, LOG-03, LOG-05, INV-11
#[test]
fn every_golden_log_folds_to_the_state_it_did() {
    write_missing();
    let logs = logs();
    assert!(logs.len() >= 8, "only {} golden logs", logs.len());
    for (name, log) in logs {
        let mut folded = Conversation::default();
        for entry in &log {
            folded.fold(entry).unwrap();
            assert!(is_acceptable(&folded), "{name} at {}", entry.seq);
        }
        let expected = fs::read_to_string(place(&name).with_extension("state")).unwrap();
        let found = digest(&folded, log.len()) + &judgement_digest(&folded);
        assert_eq!(found, expected, "{name}");
    }
}

// spec: LOG-03, LOG-05
#[test]
fn the_version_that_wrote_a_log_decides_it_again() {
    for (name, log) in logs() {
        let mut verified = Conversation::default();
        for entry in &log {
            if let Err(error) = verified.verify(entry) {
                panic!("{name}: {error}");
            }
        }
    }
}

#[test]
fn golden_logs_are_written_as_they_are_read() {
    for (name, log) in logs() {
        let written: String = log.iter().map(|entry| entry.encode() + "\n").collect();
        assert_eq!(parse(&written), log, "{name}");
        assert_eq!(written, fs::read_to_string(place(&name)).unwrap(), "{name}");
    }
}

#[test]
fn every_story_has_its_golden_log() {
    write_missing();
    for (name, _) in stories() {
        assert!(place(name).exists(), "{name}: run with UPDATE_GOLDEN=1");
    }
}

/// Returns all tags of an enum, as serde lists them in the error about an unknown tag.
fn all_tags<T: serde::de::DeserializeOwned>() -> BTreeSet<String> {
    let error = serde_json::from_str::<T>(r#"{"?":{}}"#).err().unwrap().to_string();
    error.split('`').skip(3).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_golden_logs_hold_every_kind() {
    let logs = logs();
    let entries = || logs.iter().flat_map(|(_, log)| log);
    let mut found: BTreeSet<String> =
        entries().flat_map(|entry| &entry.records).map(versioned_tag).collect();
    found.extend(entries().map(|entry| versioned_tag(&entry.input)));
    let all: BTreeSet<String> = all_tags::<Record>().union(&all_tags::<Input>()).cloned().collect();
    assert!(all.len() > 30, "{all:?}");
    let never: BTreeSet<String> = NEVER_STORED.iter().map(|&tag| tag.to_owned()).collect();
    let missing: Vec<_> = all.difference(&found).filter(|tag| !never.contains(*tag)).collect();
    assert!(missing.is_empty(), "no golden log holds {missing:?}");
    assert!(found.is_disjoint(&never), "a volatile kind was stored");
    assert!(found.is_subset(&all), "a golden log holds a kind that is gone");
}
