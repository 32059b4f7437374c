//! Compares the prompt and tools a run started with to those of its new owner, part by part. A
//! human who decides whether to continue sees which parts changed, not only that a hash differs.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::raw_json::{RawJson, sha256_hex};
use crate::settings::conversation_settings::{Settings, ToolSpec};
use crate::settings::server_tools::is_server_tool;

/// Maximum number of tools named in one sentence.
const MAX_NAMED_TOOLS: usize = 8;

/// Characters of a hash that are shown to people.
const SHORT_HASH_CHARS: usize = 8;

/// The prompt and tools of an owner, part by part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PromptFingerprint {
    /// The folder that tools work in; empty if none is set.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Arc<str>,
    /// Hash of the system prompt.
    pub system: Arc<str>,
    /// The tools, in order.
    pub tools: Vec<ToolFingerprint>,
}

/// Fingerprint of one offered tool.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolFingerprint {
    /// Name of the tool.
    pub name: Arc<str>,
    /// Hash of its description and schema.
    pub hash: Arc<str>,
}

impl Settings {
    /// Returns the prompt and tools, part by part.
    #[must_use]
    pub fn prompt_fingerprint(&self) -> PromptFingerprint {
        let tool = |tool: &ToolSpec| ToolFingerprint {
            name: tool.name.clone(),
            hash: Arc::from(sha256_hex(RawJson::encode(tool).text().as_bytes())),
        };
        let system = Arc::from(sha256_hex(self.system.as_bytes()));
        let folder = self.rules.root.clone();
        let lasting = self.tools.iter().filter(|tool| !is_server_tool(&tool.name));
        PromptFingerprint { folder, system, tools: lasting.map(tool).collect() }
    }
}

/// Returns what differs in `new`, as one sentence.
#[must_use]
pub(crate) fn describe_changes(old: &PromptFingerprint, new: &PromptFingerprint) -> Arc<str> {
    let hash_in = |offer: &PromptFingerprint, name: &str| {
        offer.tools.iter().find(|tool| &*tool.name == name).map(|tool| tool.hash.clone())
    };
    let of =
        |tools: &[ToolFingerprint], meant: &dyn Fn(&ToolFingerprint) -> bool| -> Vec<Arc<str>> {
            tools.iter().filter(|tool| meant(tool)).map(|tool| tool.name.clone()).collect()
        };
    let gone = of(&old.tools, &|tool| hash_in(new, &tool.name).is_none());
    let added = of(&new.tools, &|tool| hash_in(old, &tool.name).is_none());
    let changed =
        of(&new.tools, &|tool| hash_in(old, &tool.name).is_some_and(|hash| hash != tool.hash));
    let mut lines = Vec::new();
    if old.folder != new.folder && !old.folder.is_empty() && !new.folder.is_empty() {
        lines.push(format!("folder changed from {} to {}", old.folder, new.folder));
    }
    if old.system != new.system {
        lines.push(format!(
            "system prompt changed ({} to {})",
            short_hash(&old.system),
            short_hash(&new.system)
        ));
    }
    for (names, how) in [(changed, "changed"), (gone, "missing"), (added, "new")] {
        lines.extend(list_tools(&names, how));
    }
    if lines.is_empty() {
        lines.push("order of the tools changed".to_owned());
    }
    Arc::from(format!("changed since the run started: {}", lines.join("; ")))
}

/// Names the first of several tools, and counts the others.
fn list_tools(names: &[Arc<str>], how: &str) -> Option<String> {
    let (first, rest) = names.split_at(names.len().min(MAX_NAMED_TOOLS));
    let mut text = format!("{how} tools: {}", first.join(", "));
    if !rest.is_empty() {
        let _ = write!(text, " and {} more", rest.len());
    }
    (!names.is_empty()).then_some(text)
}

fn short_hash(hash: &str) -> &str {
    hash.get(..SHORT_HASH_CHARS).unwrap_or(hash)
}
