//! The names that the composer completes: commands with the prompts of MCP servers, and after `@`
//! paths, resources of MCP servers and sub-agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use windlass::mcp::McpServers;

use super::command_table;
use super::completion::Candidate;
use super::session_files;
use super::session_model::SessionModel;
use crate::prompt::mentions::AGENT_MENTION_PREFIX;
use crate::setup::RunSetup;
use crate::terminal::to_one_line;

/// Maximum candidates of each kind.
const MAX_CANDIDATES: usize = 100;

/// Maximum characters of a description.
const MAX_ABOUT_CHARS: usize = 100;

/// How long a list of resources is used before it is read again.
const RESOURCES_AGE: Duration = Duration::from_secs(30);

/// How long the servers are waited for, in milliseconds.
const CONNECT_MS: u64 = 30_000;

/// Has the composer complete commands and mentions.
pub(super) fn offer_names(model: &mut SessionModel, setup: &RunSetup) {
    let ours = command_table::command_candidates(&setup.custom_commands);
    // They come when a server has connected.
    let servers = setup.mcp.clone();
    model.commands = Box::new(move |typed| {
        let prompts = server_prompts(&servers);
        let meant = |candidate: &&Candidate| candidate.text.starts_with(typed);
        ours.iter().chain(&prompts).filter(meant).cloned().collect()
    });
    let folder = setup.workspace.clone();
    let agents = setup.agents.descriptions.clone();
    let resources = ResourceNames::new(setup.mcp.clone());
    resources.refresh();
    model.mentions = Box::new(move |typed| {
        let paths = session_files::complete_path(&folder, typed).into_iter();
        let paths = paths.map(|path| Candidate { text: format!("@{path}"), about: String::new() });
        let agents = agent_candidates(&agents, typed);
        let resources = resources.beginning_with(typed);
        paths.chain(agents).chain(resources).collect()
    });
}

/// The prompts of connected servers, as commands.
pub(super) fn server_prompts(servers: &McpServers) -> Vec<Candidate> {
    let mut found = Vec::new();
    for server in servers.list() {
        for prompt in server.prompts() {
            let arguments = prompt.arguments.iter().map(|argument| match argument.required {
                true => format!("<{}> ", argument.name),
                false => format!("[{}] ", argument.name),
            });
            let arguments: String = arguments.collect();
            let about = format!("{arguments}{}", prompt.plain_description());
            found.push(Candidate {
                text: format!("/{}", server.prompt_command(&prompt)),
                about: to_one_line(&about, MAX_ABOUT_CHARS),
            });
        }
    }
    found.truncate(MAX_CANDIDATES);
    found
}

fn agent_candidates(agents: &BTreeMap<String, String>, typed: &str) -> Vec<Candidate> {
    let named = agents.iter().map(|(name, about)| Candidate {
        text: format!("@{AGENT_MENTION_PREFIX}{name}"),
        about: format!("sub-agent: {}", to_one_line(about, MAX_ABOUT_CHARS)),
    });
    // A name is enough to find it.
    let meant = |candidate: &Candidate| {
        let name = candidate.text.trim_start_matches('@');
        let short = name.strip_prefix(AGENT_MENTION_PREFIX).unwrap_or(name);
        !typed.is_empty() && (name.starts_with(typed) || short.starts_with(typed))
    };
    named.filter(meant).take(MAX_CANDIDATES).collect()
}

/// The resources of the servers, as they were when they were last listed.
#[derive(Clone)]
struct ResourceNames {
    servers: McpServers,
    listed: Arc<Mutex<ListedResources>>,
}

#[derive(Default)]
struct ListedResources {
    candidates: Vec<Candidate>,
    /// When they were asked for.
    asked: Option<Instant>,
}

impl ResourceNames {
    fn new(servers: McpServers) -> Self {
        Self { servers, listed: Arc::default() }
    }

    fn beginning_with(&self, typed: &str) -> Vec<Candidate> {
        self.refresh();
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        let meant = |candidate: &&Candidate| {
            candidate.text.get(1..).is_some_and(|name| name.starts_with(typed))
        };
        let meant = listed.candidates.iter().filter(meant);
        meant.filter(|_| !typed.is_empty()).take(MAX_CANDIDATES).cloned().collect()
    }

    /// Lists the resources anew, unless that was done a moment ago.
    fn refresh(&self) {
        {
            let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
            if listed.asked.is_some_and(|asked| asked.elapsed() < RESOURCES_AGE) {
                return;
            }
            listed.asked = Some(Instant::now());
        }
        let own = self.clone();
        drop(tokio::spawn(async move {
            own.servers.wait_until_settled(CONNECT_MS).await;
            let candidates = list_resources(&own.servers).await;
            own.listed.lock().unwrap_or_else(PoisonError::into_inner).candidates = candidates;
        }));
    }
}

async fn list_resources(servers: &McpServers) -> Vec<Candidate> {
    let mut found = Vec::new();
    for server in servers.list() {
        for resource in server.list_resources().await.unwrap_or_default() {
            // A mention is one word.
            if !resource.uri.contains(char::is_whitespace) {
                let about = format!("{} {}", resource.name, resource.description);
                found.push(Candidate {
                    text: format!("@{}:{}", server.name(), resource.uri),
                    about: to_one_line(&about, MAX_ABOUT_CHARS),
                });
            }
        }
    }
    found
}
