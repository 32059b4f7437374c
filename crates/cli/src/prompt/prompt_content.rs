//! The content of a prompt: prompts of MCP servers in place of their commands, mentioned files and
//! resources, and the text.

use std::collections::BTreeMap;

use anyhow::bail;
use serde_json::Value;
use windlass::core::log::ids::LaneId;
use windlass::core::message::content_block::ContentBlock;
use windlass::mcp::McpServers;

use super::{mentions, session_events};
use crate::setup::RunSetup;
use crate::{messages, terminal};

/// What the names of commands begin with that are prompts of MCP servers.
pub(crate) const SERVER_PROMPT_PREFIX: &str = "mcp__";

/// How long a prompt waits for a server that is being connected, in milliseconds.
const CONNECT_MS: u64 = 30_000;

/// Returns the prompt as it is sent.
pub(crate) async fn build(
    prompt: &str,
    setup: &RunSetup,
    lane: &LaneId,
) -> anyhow::Result<Vec<ContentBlock>> {
    if !setup.slash_commands.is_empty()
        && let Some(blocks) = expand_server_prompt(prompt, &setup.mcp).await?
    {
        let session = setup.windlass.session(lane.clone());
        session_events::announce_server_prompt(&session, prompt).await?;
        return Ok(blocks);
    }
    let mut blocks = mentioned_resources(prompt, &setup.mcp).await;
    blocks.extend(mentioned_agents(prompt, &setup.agents.descriptions));
    blocks.extend(mentions::prompt_blocks(prompt, &setup.workplace, lane));
    Ok(blocks)
}

/// The commands that are prompts of connected servers.
pub(crate) fn server_prompt_names(servers: &McpServers) -> Vec<String> {
    let servers = servers.list();
    let names = servers.iter().flat_map(|server| {
        let name = |prompt| server.prompt_command(prompt);
        server.prompts().iter().map(name).collect::<Vec<_>>()
    });
    names.collect()
}

/// Expands `/mcp__server__prompt arguments`; `None` for any other prompt.
async fn expand_server_prompt(
    prompt: &str,
    servers: &McpServers,
) -> anyhow::Result<Option<Vec<ContentBlock>>> {
    let Some(typed) = prompt.strip_prefix('/') else { return Ok(None) };
    if !typed.starts_with(SERVER_PROMPT_PREFIX) {
        return Ok(None);
    }
    let (command, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    servers.wait_until_settled(CONNECT_MS).await;
    for server in servers.list() {
        let prompts = server.prompts();
        let found = prompts.iter().find(|prompt| server.prompt_command(prompt) == command);
        let Some(found) = found else { continue };
        let arguments = found
            .arguments_from_text(rest)
            .map_err(|why| anyhow::anyhow!("cannot use /{command}: {why}"))?;
        let blocks = server.get_prompt(&found.name, arguments).await;
        let blocks = blocks.map_err(|error| anyhow::anyhow!("cannot use /{command}: {error}"))?;
        return Ok(Some(blocks.into_iter().filter_map(to_block).collect()));
    }
    let names: Vec<String> =
        server_prompt_names(servers).into_iter().map(|name| format!("/{name}")).collect();
    match names.is_empty() {
        true => bail!("unknown command /{command}; no MCP server that is connected has prompts"),
        false => bail!("unknown command /{command}; available: {}", names.join(", ")),
    }
}

/// What the model is told of the sub-agents that a prompt mentions as `@agent-NAME`, each once.
fn mentioned_agents(prompt: &str, agents: &BTreeMap<String, String>) -> Vec<ContentBlock> {
    let mut named: Vec<&str> = Vec::new();
    for mention in mentions::find_mentions(prompt).take(mentions::MAX_MENTIONS) {
        let mention = mention.trim_end_matches(mentions::TRAILING_PUNCTUATION);
        let name = mention.strip_prefix(mentions::AGENT_MENTION_PREFIX);
        if let Some(name) = name.filter(|name| agents.contains_key(*name) && !named.contains(name))
        {
            named.push(name);
        }
    }
    named.iter().map(|name| ContentBlock::text(&messages::mentioned_agent(name))).collect()
}

/// The resources that a prompt mentions as `@server:uri`, each once.
async fn mentioned_resources(prompt: &str, servers: &McpServers) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for mention in mentions::find_mentions(prompt).take(mentions::MAX_MENTIONS) {
        let mention = mention.trim_end_matches(mentions::TRAILING_PUNCTUATION);
        let Some((name, uri)) = mention.split_once(':') else { continue };
        let Some(server) = servers.find(name).filter(|_| !uri.is_empty()) else { continue };
        if seen.contains(&mention) {
            continue;
        }
        seen.push(mention);
        match server.read_resource(uri).await {
            Ok(content) => {
                blocks.push(ContentBlock::text(&messages::attached_resource(mention)));
                blocks.extend(content.into_iter().filter_map(to_block));
            }
            Err(error) => {
                terminal::print_note(&messages::not_attached(mention, &error.to_string()));
            }
        }
    }
    blocks
}

fn to_block(block: Value) -> Option<ContentBlock> {
    serde_json::from_value(block).ok()
}
