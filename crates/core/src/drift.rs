//! What changed between the prompt a run began with and the one its new owner has. A human who is to
//! decide whether to go on is told which parts, not only that some hash is another.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::raw::{Raw, sha256_hex};
use crate::settings::{Settings, ToolSpec};

/// Tools named in one sentence.
const MOST_NAMED: usize = 8;

/// Characters of a hash that people compare.
const SHORT_HASH: usize = 8;

/// What an owner would tell the model before the conversation, part by part.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// The folder that tools work in; empty if none is set.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Arc<str>,
    /// Hash of the system prompt.
    pub system: Arc<str>,
    /// The tools, in order.
    pub tools: Vec<OfferedTool>,
}

/// A tool of an offer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OfferedTool {
    /// Its name.
    pub name: Arc<str>,
    /// Hash of its description and schema.
    pub hash: Arc<str>,
}

impl Settings {
    /// What the model is told, part by part.
    #[must_use]
    pub fn offer(&self) -> Offer {
        let tool = |tool: &ToolSpec| OfferedTool {
            name: tool.name.clone(),
            hash: Arc::from(sha256_hex(Raw::encode(tool).text().as_bytes())),
        };
        let system = Arc::from(sha256_hex(self.system.as_bytes()));
        let folder = self.rules.root.clone();
        Offer { folder, system, tools: self.tools.iter().map(tool).collect() }
    }
}

/// What is another in `new`, as one sentence.
#[must_use]
pub(crate) fn what(old: &Offer, new: &Offer) -> Arc<str> {
    let hash_in = |offer: &Offer, name: &str| {
        offer.tools.iter().find(|tool| &*tool.name == name).map(|tool| tool.hash.clone())
    };
    let of = |tools: &[OfferedTool], meant: &dyn Fn(&OfferedTool) -> bool| -> Vec<Arc<str>> {
        tools.iter().filter(|tool| meant(tool)).map(|tool| tool.name.clone()).collect()
    };
    let gone = of(&old.tools, &|tool| hash_in(new, &tool.name).is_none());
    let added = of(&new.tools, &|tool| hash_in(old, &tool.name).is_none());
    let changed =
        of(&new.tools, &|tool| hash_in(old, &tool.name).is_some_and(|hash| hash != tool.hash));
    let mut said = Vec::new();
    if old.folder != new.folder && !old.folder.is_empty() && !new.folder.is_empty() {
        said.push(format!("the folder ({} is now {})", old.folder, new.folder));
    }
    if old.system != new.system {
        said.push(format!(
            "the system prompt ({} is now {})",
            short(&old.system),
            short(&new.system)
        ));
    }
    for (names, how) in [(changed, "changed"), (gone, "missing"), (added, "new")] {
        said.extend(named(&names, how));
    }
    if said.is_empty() {
        said.push("the order of the tools".to_owned());
    }
    Arc::from(format!("since the run began something is different: {}", said.join("; ")))
}

/// The first of several tools by name, and how many there are besides.
fn named(names: &[Arc<str>], how: &str) -> Option<String> {
    let (first, rest) = names.split_at(names.len().min(MOST_NAMED));
    let mut said = format!("{how} tools: {}", first.join(", "));
    if !rest.is_empty() {
        let _ = write!(said, " and {} more", rest.len());
    }
    (!names.is_empty()).then_some(said)
}

fn short(hash: &str) -> &str {
    hash.get(..SHORT_HASH).unwrap_or(hash)
}
