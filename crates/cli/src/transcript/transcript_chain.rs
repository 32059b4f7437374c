//! Reads a transcript that another program wrote: the chain of messages that its last line ends, as the
//! Agent SDKs read it.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;
use windlass::core::message::normalise::normalise;
use windlass::core::message::transcript::Transcript;

#[cfg(test)]
#[path = "transcript_chain_tests.rs"]
mod transcript_chain_tests;

/// Maximum size of a transcript that is imported.
const MAX_BYTES: u64 = 256 << 20;

/// The lines that make up the conversation, oldest first.
#[derive(Debug)]
pub(crate) struct TranscriptChain {
    lines: Vec<Value>,
}

impl TranscriptChain {
    /// Reads a transcript; `None` if it has no messages.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Option<Self>> {
        let failed = || format!("cannot read the transcript {}", path.display());
        let file = File::open(path).with_context(failed)?;
        if file.metadata().with_context(failed)?.len() > MAX_BYTES {
            bail!(
                "the transcript {} has more than {MAX_BYTES} bytes; start a new conversation",
                path.display()
            );
        }
        let mut lines = Vec::new();
        for line in BufReader::new(file).lines() {
            // A line that a crash tore is skipped.
            if let Ok(line) = serde_json::from_str(&line.with_context(failed)?)
                && is_in_chains(&line)
            {
                lines.push(line);
            }
        }
        let chain = chain_of(lines);
        Ok((!chain.is_empty()).then_some(Self { lines: chain }))
    }

    /// Leaves out what follows the message with this id, and returns the id of the next prompt that
    /// is left out; `None` if there is no such message.
    pub(crate) fn cut_after(&mut self, uuid: &str) -> Option<Option<String>> {
        let at = self.lines.iter().position(|line| text(line, "uuid") == Some(uuid))?;
        // A call counts together with its result.
        let results = self.lines.iter().skip(at + 1).take_while(|line| has_results(line)).count();
        let rest = self.lines.split_off(at + 1 + results);
        let next = rest.iter().find(|line| is_prompt(line));
        Some(next.and_then(|line| text(line, "uuid")).map(str::to_owned))
    }

    /// The id of the last message.
    pub(crate) fn last_message(&self) -> &str {
        self.lines.iter().rev().find_map(|line| text(line, "uuid")).unwrap_or_default()
    }

    /// What the model has seen.
    pub(crate) fn history(&self) -> anyhow::Result<Transcript> {
        let spoken = |line: &&Value| {
            matches!(text(line, "type"), Some("user" | "assistant"))
                && line.get("isApiErrorMessage") != Some(&Value::Bool(true))
        };
        let messages: Vec<&Value> =
            self.lines.iter().filter(spoken).filter_map(|line| line.get("message")).collect();
        let json = serde_json::to_string(&messages)?;
        Ok(normalise(&json)?.transcript)
    }

    /// The lines as those of another conversation.
    pub(crate) fn into_lines_of(self, session_id: &str) -> Vec<Value> {
        let mut lines = self.lines;
        for line in &mut lines {
            if let Some(fields) = line.as_object_mut() {
                fields.insert("sessionId".to_owned(), Value::from(session_id));
            }
        }
        lines
    }
}

fn text<'a>(line: &'a Value, name: &str) -> Option<&'a str> {
    line.get(name).and_then(Value::as_str)
}

fn is_flagged(line: &Value, name: &str) -> bool {
    line.get(name) == Some(&Value::Bool(true))
}

fn is_in_chains(line: &Value) -> bool {
    let kinds = ["user", "assistant", "system", "attachment", "progress"];
    text(line, "uuid").is_some()
        && text(line, "type").is_some_and(|kind| kinds.contains(&kind))
        && !is_flagged(line, "isSidechain")
}

fn is_spoken(line: &Value) -> bool {
    matches!(text(line, "type"), Some("user" | "assistant"))
}

fn is_prompt(line: &Value) -> bool {
    text(line, "type") == Some("user")
        && !has_results(line)
        && !is_flagged(line, "isMeta")
        && !is_flagged(line, "isCompactSummary")
}

/// The blocks of a message with this type.
fn blocks<'a>(line: &'a Value, kind: &'static str) -> impl Iterator<Item = &'a Value> {
    let content = line.get("message").and_then(|message| message.get("content"));
    let all = content.and_then(Value::as_array).into_iter().flatten();
    all.filter(move |block| text(block, "type") == Some(kind))
}

fn has_results(line: &Value) -> bool {
    blocks(line, "tool_result").next().is_some()
}

/// The chain that ends with the last message which no other one follows.
fn chain_of(lines: Vec<Value>) -> Vec<Value> {
    let parents: HashSet<&str> = lines.iter().filter_map(|line| text(line, "parentUuid")).collect();
    let is_leaf = |line: &&Value| {
        is_spoken(line) && text(line, "uuid").is_some_and(|uuid| !parents.contains(uuid))
    };
    let leaves = || lines.iter().rev().filter(is_leaf);
    let leaf = leaves().find(|line| !is_flagged(line, "isMeta")).or_else(|| leaves().next());
    let by_uuid: HashMap<&str, &Value> =
        lines.iter().filter_map(|line| Some((text(line, "uuid")?, line))).collect();
    let mut chain = Vec::new();
    let mut seen = HashSet::new();
    let mut next = leaf;
    while let Some(line) = next {
        if !seen.insert(text(line, "uuid").unwrap_or_default()) {
            break;
        }
        chain.push(line);
        next = text(line, "parentUuid").and_then(|parent| by_uuid.get(parent).copied());
    }
    chain.reverse();
    with_parallel_results(&chain, &lines, &seen)
}

/// Puts results that stand beside the chain after their calls: those of calls that were made at
/// once are neighbours, and only one of them has followers.
fn with_parallel_results(chain: &[&Value], all: &[Value], seen: &HashSet<&str>) -> Vec<Value> {
    let mut beside: HashMap<&str, &Value> = HashMap::new();
    for line in all.iter().filter(|line| !seen.contains(text(line, "uuid").unwrap_or_default())) {
        for block in blocks(line, "tool_result") {
            beside.extend(text(block, "tool_use_id").map(|id| (id, line)));
        }
    }
    let mut whole = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for line in chain {
        if text(line, "type") != Some("assistant") {
            let missing = open.drain(..).filter_map(|id| beside.remove(id));
            whole.extend(missing.cloned());
        }
        open.extend(blocks(line, "tool_use").filter_map(|call| text(call, "id")));
        whole.push((*line).clone());
    }
    whole.extend(open.into_iter().filter_map(|id| beside.remove(id)).cloned());
    whole
}
