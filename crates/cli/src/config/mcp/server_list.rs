//! The servers that are configured for a folder, one for each name.

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value};
use windlass::core::message::raw_json::RawJson;
use windlass::mcp::{McpServerConfig, check_server_name};
use windlass::tools::read_following_links;

use super::{ConfiguredServer, ServerScope, user_file};
use crate::args::{McpArgs, PermissionArgs};
use crate::config::claude::config_file::{ConfigFile, FileOwner};
use crate::config::plugins::{self, Plugin, ROOT_VARIABLE};
use crate::config::trust::folder_trust::{FolderTrust, TrustState};

/// Maximum size of a configuration file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Maximum number of servers.
const MAX_SERVERS: usize = 100;

/// The name of the file of a project.
pub(crate) const PROJECT_FILE: &str = ".mcp.json";

/// Reads the servers for runs in a folder. Those of an untrusted folder are left out.
pub(crate) fn configured_servers(
    (mcp, permissions): (&McpArgs, &PermissionArgs),
    folder: &FolderTrust,
) -> anyhow::Result<Vec<ConfiguredServer>> {
    let mut servers = given_servers(mcp)?;
    if !mcp.strict_mcp_config {
        let own = user_file::read()?;
        let reads = |scope: ServerScope| permissions.reads_source(scope.name());
        if reads(ServerScope::Local) {
            servers.extend(parse_servers(&own.local_servers(&folder.folder), ServerScope::Local));
        }
        if reads(ServerScope::Project) && folder.trust == TrustState::Trusted {
            let project = project_servers(&folder.folder)?;
            servers.extend(parse_servers(&project, ServerScope::Project));
        }
        if reads(ServerScope::User) {
            servers.extend(parse_servers(&own.user_servers(), ServerScope::User));
        }
        for plugin in plugins::load_plugins(permissions, folder)? {
            servers.extend(plugin_servers(&plugin));
        }
    }
    // The first of a name counts: they are in the order of precedence.
    let mut seen = std::collections::HashSet::new();
    servers.retain(|server| seen.insert(server.name.clone()));
    if servers.len() > MAX_SERVERS {
        bail!("more than {MAX_SERVERS} MCP servers are configured; remove some");
    }
    Ok(servers)
}

/// Reads the servers of `--mcp-config`.
pub(crate) fn given_servers(mcp: &McpArgs) -> anyhow::Result<Vec<ConfiguredServer>> {
    let mut servers = Vec::new();
    // A later flag replaces an earlier one.
    for given in mcp.mcp_config.iter().rev() {
        let table = read_given(given)?;
        servers.extend(parse_servers(&table, ServerScope::Dynamic));
    }
    Ok(servers)
}

fn read_given(given: &str) -> anyhow::Result<Map<String, Value>> {
    if given.trim_start().starts_with('{') {
        return server_table(given).context("--mcp-config");
    }
    let path = Path::new(given);
    let file = read_following_links(path, MAX_FILE_BYTES)
        .and_then(|begun| begun.map(|begun| begun.into_text(MAX_FILE_BYTES)).transpose());
    let text = file.map_err(|why| anyhow::anyhow!("--mcp-config: the file {given} {why}"))?;
    let Some(text) = text else {
        bail!("--mcp-config: there is no file {given}; give JSON or the path of a file");
    };
    server_table(&text).with_context(|| format!("--mcp-config: {given}"))
}

/// Reads `.mcp.json` of a folder, whether it is trusted or not.
pub(crate) fn project_servers(folder: &Path) -> anyhow::Result<Map<String, Value>> {
    let file = ConfigFile::new(folder, PROJECT_FILE, FileOwner::Project);
    match file.read(MAX_FILE_BYTES) {
        Ok(None) => Ok(Map::new()),
        Ok(Some(text)) => server_table(&text).with_context(|| file.path().display().to_string()),
        Err(why) => bail!("{} {why}", file.path().display()),
    }
}

fn server_table(text: &str) -> anyhow::Result<Map<String, Value>> {
    let all: Value = serde_json::from_str(text)
        .map_err(|error| anyhow::anyhow!("not valid JSON ({error}); fix it"))?;
    match all.get("mcpServers") {
        Some(Value::Object(servers)) => Ok(servers.clone()),
        Some(_) => bail!("`mcpServers` is not a JSON object"),
        None => bail!("it has no `mcpServers`; write {{\"mcpServers\": {{\"NAME\": {{…}}}}}}"),
    }
}

/// The servers of a plugin: `plugin:shop:db` is the server `db` of the plugin `shop`. Its folder is a
/// variable, in their configuration and for their programs.
fn plugin_servers(plugin: &Plugin) -> Vec<ConfiguredServer> {
    let root = plugin.root.to_string_lossy();
    let mut table = plugin.servers.clone();
    for server in table.values_mut().filter_map(Value::as_object_mut) {
        if server.contains_key("command") {
            let env = server.entry("env").or_insert_with(|| Value::Object(Map::new()));
            if let Some(env) = env.as_object_mut() {
                env.insert(ROOT_VARIABLE.to_owned(), Value::from(&*root));
            }
        }
    }
    let variable = |name: &str| match name {
        ROOT_VARIABLE => Some(root.to_string()),
        name => std::env::var(name).ok(),
    };
    let mut servers = parse_servers_with(&table, ServerScope::Plugin, &variable);
    for server in &mut servers {
        server.name = format!("plugin:{}", plugin.qualify(&server.name));
    }
    servers
}

/// Parses each server by itself: one that is not valid does not take the others away.
pub(crate) fn parse_servers(
    table: &Map<String, Value>,
    scope: ServerScope,
) -> Vec<ConfiguredServer> {
    parse_servers_with(table, scope, &|name| std::env::var(name).ok())
}

fn parse_servers_with(
    table: &Map<String, Value>,
    scope: ServerScope,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Vec<ConfiguredServer> {
    let parse = |(name, value): (&String, &Value)| ConfiguredServer {
        name: name.clone(),
        scope,
        config: check_server_name(name)
            .and_then(|()| McpServerConfig::from_json(value, variable))
            .map_err(|error| error.to_string()),
        hash: RawJson::encode(value).canonical_hash_hex(),
    };
    table.iter().map(parse).collect()
}
