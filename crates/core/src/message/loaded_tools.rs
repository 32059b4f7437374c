//! Deferred tools and those of them that were loaded.
//!
//! When the schemas of MCP tools would take too much of the window, they are left out of the
//! request: the model finds them with `ToolSearch`, whose result refers to the tools that it loads.
//! Which tools are deferred follows from the recorded settings, and which are loaded from the
//! recorded results, so that every process sends the same request.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use imbl::Vector;
use serde::Deserialize;

use crate::message::raw_json::RawJson;
use crate::settings::conversation_settings::{Settings, ToolSpec};
use crate::settings::server_tools::SERVER_TOOL_PREFIX;

#[cfg(test)]
#[path = "loaded_tools_tests.rs"]
mod loaded_tools_tests;

/// The tool that loads deferred tools.
pub const TOOL_SEARCH: &str = "ToolSearch";

/// What the names of tools that may be deferred begin with: those of MCP servers.
const DEFERRABLE_PREFIX: &str = SERVER_TOOL_PREFIX;

/// The share of the window at which tools are never deferred.
const NEVER_PERCENT: u8 = 100;

/// Tokens of a schema per thousand bytes, as before a provider has counted anything.
const TOKENS_PER_1000_BYTES: u64 = 250;

/// Maximum number of tools that a conversation loads.
const MAX_LOADED_TOOLS: usize = 1_000;

/// Maximum number of bytes of the names that the description of `ToolSearch` lists.
const MAX_LISTED_BYTES: usize = 12_000;

/// The type of a block that refers to a tool.
const REFERENCE_KIND: &str = "tool_reference";

/// The deferred tools that a conversation has loaded, in the order in which it did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LoadedTools {
    names: Vector<Arc<str>>,
    /// How many of them the transcript may no longer refer to, from the first on.
    unreferenced: usize,
}

/// How a request offers deferred tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolLoading {
    /// The provider gets all tools, and shows the model those that the messages refer to.
    ByReference,
    /// The request contains the tools that were loaded, and no others.
    ByRequest,
}

/// A tool of a request.
#[derive(Debug, Clone)]
pub struct OfferedTool<'a> {
    /// The specification.
    pub spec: Cow<'a, ToolSpec>,
    /// Whether the provider hides it until a message refers to it.
    pub is_deferred: bool,
}

#[derive(Deserialize)]
struct ToolReference {
    #[serde(rename = "type")]
    kind: String,
    tool_name: Option<Arc<str>>,
}

/// Returns the content of a result that loads these tools.
#[must_use]
pub fn references_to<'n>(names: impl IntoIterator<Item = &'n str>) -> RawJson {
    #[derive(serde::Serialize)]
    struct Reference<'n> {
        #[serde(rename = "type")]
        kind: &'static str,
        tool_name: &'n str,
    }
    let blocks: Vec<_> =
        names.into_iter().map(|tool_name| Reference { kind: REFERENCE_KIND, tool_name }).collect();
    RawJson::encode(&blocks)
}

/// Returns the tools that the content of a result refers to.
#[must_use]
pub fn referenced_tools(content: &RawJson) -> Vec<Arc<str>> {
    let blocks: Vec<ToolReference> = content.read().unwrap_or_default();
    let references = blocks.into_iter().filter(|block| block.kind == REFERENCE_KIND);
    references.filter_map(|block| block.tool_name).collect()
}

impl LoadedTools {
    /// Returns the names in the order in which they were loaded.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names.iter()
    }

    /// Returns whether the tool was loaded.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|loaded| **loaded == *name)
    }

    /// Returns whether every loaded tool still exists. A provider rejects references to others.
    #[must_use]
    pub fn exist_in(&self, settings: &Settings) -> bool {
        self.names.iter().all(|name| settings.tools.iter().any(|tool| tool.name == *name))
    }

    pub(crate) fn add(&mut self, name: Arc<str>) {
        if self.names.len() < MAX_LOADED_TOOLS && !self.contains(&name) {
            self.names.push_back(name);
        }
    }

    /// The messages are rewritten: references may be gone from them.
    pub(crate) fn forget_references(&mut self) {
        self.unreferenced = self.names.len();
    }

    /// Returns whether the transcript may no longer refer to a tool that was loaded.
    fn is_unreferenced(&self, name: &str) -> bool {
        self.names.iter().take(self.unreferenced).any(|loaded| **loaded == *name)
    }
}

impl Settings {
    /// Returns whether the tool is left out of requests until it is loaded.
    #[must_use]
    pub fn is_deferred(&self, tool: &str) -> bool {
        is_deferrable(tool) && self.defers_tools()
    }

    /// Returns whether tools are deferred: the model can search them, and their schemas would take
    /// more than their share of the window.
    #[must_use]
    pub fn defers_tools(&self) -> bool {
        let percent = self.limits.tool_schema_percent;
        if percent >= NEVER_PERCENT || !self.tools.iter().any(|tool| &*tool.name == TOOL_SEARCH) {
            return false;
        }
        let deferrable = self.tools.iter().filter(|tool| is_deferrable(&tool.name));
        let bytes = deferrable.map(ToolSpec::byte_count).sum::<usize>() as u64;
        let tokens = bytes.saturating_mul(TOKENS_PER_1000_BYTES) / 1_000;
        bytes > 0
            && tokens.saturating_mul(100)
                > self.model.window_tokens.saturating_mul(u64::from(percent))
    }

    /// Returns the tools of a request. `required` is a tool that the model must call now: it is
    /// never deferred.
    #[must_use]
    pub fn offered_tools(
        &self,
        loaded: &LoadedTools,
        loading: ToolLoading,
        required: Option<&str>,
    ) -> Vec<OfferedTool<'_>> {
        if !self.defers_tools() {
            let tools = self.tools.iter().filter(|tool| &*tool.name != TOOL_SEARCH);
            return tools.map(OfferedTool::immediate).collect();
        }
        let is_immediate = |tool: &ToolSpec| {
            !is_deferrable(&tool.name) || required.is_some_and(|required| *required == *tool.name)
        };
        let (immediate, deferred): (Vec<_>, Vec<_>) =
            self.tools.iter().partition(|tool| is_immediate(tool));
        let mut offered: Vec<_> = immediate.into_iter().map(|tool| self.offer(tool)).collect();
        match loading {
            ToolLoading::ByRequest => {
                let find =
                    |name: &Arc<str>| deferred.iter().find(|tool| tool.name == *name).copied();
                offered.extend(loaded.names().filter_map(find).map(OfferedTool::immediate));
            }
            ToolLoading::ByReference => {
                // After the others, so that loading a tool changes nothing before it.
                let (back, hidden): (Vec<_>, Vec<_>) =
                    deferred.into_iter().partition(|tool| loaded.is_unreferenced(&tool.name));
                offered.extend(back.into_iter().map(OfferedTool::immediate));
                let hide = |spec| OfferedTool { spec: Cow::Borrowed(spec), is_deferred: true };
                offered.extend(hidden.into_iter().map(hide));
            }
        }
        offered
    }

    /// Returns the bytes of the tools that the model sees.
    pub(crate) fn visible_tool_bytes(&self, loaded: &LoadedTools) -> usize {
        let offered = self.offered_tools(loaded, ToolLoading::ByRequest, None);
        offered.iter().map(|tool| tool.spec.byte_count()).sum()
    }

    fn offer<'a>(&self, tool: &'a ToolSpec) -> OfferedTool<'a> {
        if &*tool.name != TOOL_SEARCH {
            return OfferedTool::immediate(tool);
        }
        let description = format!("{}\n\n{}", tool.description, self.deferred_list());
        let spec = ToolSpec { description: Arc::from(description), ..tool.clone() };
        OfferedTool { spec: Cow::Owned(spec), is_deferred: false }
    }

    /// Lists the deferred tools by server. Loaded ones stay in the list: it is part of the prompt
    /// prefix.
    fn deferred_list(&self) -> String {
        let mut servers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for tool in self.tools.iter().filter(|tool| is_deferrable(&tool.name)) {
            let rest = tool.name.get(DEFERRABLE_PREFIX.len()..).unwrap_or_default();
            let (server, name) = rest.split_once("__").unwrap_or((rest, ""));
            servers.entry(server).or_default().push(name);
        }
        let mut text =
            "Deferred tools, by server; their names begin with mcp__SERVER__:".to_owned();
        let mut left = MAX_LISTED_BYTES;
        for (server, names) in servers {
            let list = names.join(", ");
            // Writing to a text cannot fail.
            let _ = match left.checked_sub(list.len()) {
                Some(rest) => {
                    left = rest;
                    write!(text, "\n- {server}: {list}")
                }
                None => write!(text, "\n- {server}: {} tools", names.len()),
            };
        }
        text
    }
}

impl<'a> OfferedTool<'a> {
    fn immediate(spec: &'a ToolSpec) -> Self {
        Self { spec: Cow::Borrowed(spec), is_deferred: false }
    }
}

fn is_deferrable(tool: &str) -> bool {
    tool.starts_with(DEFERRABLE_PREFIX)
}
