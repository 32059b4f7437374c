//! Changes where servers are configured.

use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use windlass::mcp::{McpServerConfig, check_server_name};

use super::here;
use crate::args::{McpAddArgs, McpScopeArg, McpTransportArg};
use crate::config::mcp::server_list::{self, PROJECT_FILE};
use crate::config::mcp::{private_file, user_file};
use crate::exit::OrUsageError;
use crate::{messages, terminal};

/// Adds a server from its parts.
pub(super) fn add(args: &McpAddArgs) -> anyhow::Result<ExitCode> {
    let server = match args.transport {
        McpTransportArg::Stdio => stdio_server(args),
        McpTransportArg::Http => http_server(args),
        McpTransportArg::Sse => Ok(json!({"type": "sse", "url": args.target})),
    };
    write_server(&args.name, server.or_usage_error()?, args.scope)
}

/// Adds a server as JSON.
pub(super) fn add_json(name: &str, text: &str, scope: McpScopeArg) -> anyhow::Result<ExitCode> {
    let server: Value = serde_json::from_str(text)
        .map_err(|error| anyhow::anyhow!("the configuration is not valid JSON ({error})"))
        .or_usage_error()?;
    write_server(name, server, scope)
}

/// Removes a server from where it is.
pub(super) fn remove(name: &str, scope: Option<McpScopeArg>) -> anyhow::Result<ExitCode> {
    let folder = here()?;
    let own = user_file::read()?;
    let is_in = |scope: McpScopeArg| {
        Ok::<_, anyhow::Error>(match scope {
            McpScopeArg::Local => own.local_servers(&folder).contains_key(name),
            McpScopeArg::User => own.user_servers().contains_key(name),
            McpScopeArg::Project => server_list::project_servers(&folder)?.contains_key(name),
        })
    };
    let mut found = Vec::new();
    for one in [McpScopeArg::Local, McpScopeArg::Project, McpScopeArg::User] {
        if scope.is_none_or(|scope| scope == one) && is_in(one)? {
            found.push(one);
        }
    }
    match found[..] {
        [] => bail!(messages::mcp_server_unknown(name)),
        [only] => {
            change_table(only, |servers| drop(servers.remove(name)))?;
            terminal::print_line(&messages::mcp_server_removed(name, scope_name(only)));
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            let names: Vec<&str> = found.into_iter().map(scope_name).collect();
            bail!(messages::mcp_server_in_several(name, &names))
        }
    }
}

fn stdio_server(args: &McpAddArgs) -> anyhow::Result<Value> {
    if args.target.starts_with("http://") || args.target.starts_with("https://") {
        bail!("{} is a URL; add --transport http for a web service", args.target);
    }
    if !args.header.is_empty() {
        bail!("--header is for --transport http; a program has --env");
    }
    let env = pairs(&args.env, '=', "--env takes NAME=VALUE")?;
    Ok(json!({"type": "stdio", "command": args.target, "args": args.arguments, "env": env}))
}

fn http_server(args: &McpAddArgs) -> anyhow::Result<Value> {
    if !args.arguments.is_empty() || !args.env.is_empty() {
        bail!("a web service has neither arguments nor --env; it has --header");
    }
    let headers = pairs(&args.header, ':', "--header takes `NAME: VALUE`")?;
    let mut server = json!({"type": "http", "url": args.target});
    let mut oauth = Map::new();
    oauth.extend(args.client_id.iter().map(|id| ("clientId".to_owned(), json!(id))));
    oauth.extend(args.callback_port.map(|port| ("callbackPort".to_owned(), json!(port))));
    if let Some(table) = server.as_object_mut() {
        if !headers.is_empty() {
            table.insert("headers".to_owned(), Value::Object(headers));
        }
        if !oauth.is_empty() {
            table.insert("oauth".to_owned(), Value::Object(oauth));
        }
    }
    Ok(server)
}

fn pairs(given: &[String], separator: char, usage: &str) -> anyhow::Result<Map<String, Value>> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(separator)?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), json!(value.trim())))
    };
    let pair = |text: &String| pair(text).with_context(|| format!("`{text}`: {usage}"));
    given.iter().map(pair).collect()
}

/// Length of a name in a message, in characters.
const MAX_SHOWN_CHARS: usize = 80;

fn write_server(name: &str, server: Value, scope: McpScopeArg) -> anyhow::Result<ExitCode> {
    // Variables may be set later; everything else must be right now.
    let any = |_: &str| Some(String::new());
    check_server_name(name)
        .and_then(|()| match server.get("url").and_then(Value::as_str) {
            Some(url) if url.starts_with("${") => Ok(()),
            Some(_) | None => McpServerConfig::from_json(&server, &any).map(drop),
        })
        .map_err(|error| {
            anyhow::anyhow!("MCP server {}: {error}", terminal::to_one_line(name, MAX_SHOWN_CHARS))
        })
        .or_usage_error()?;
    let mut replaced = false;
    change_table(scope, |servers| replaced = servers.insert(name.to_owned(), server).is_some())?;
    terminal::print_line(&messages::mcp_server_added(name, scope_name(scope), replaced));
    Ok(ExitCode::SUCCESS)
}

/// Changes the servers of a scope in its file.
fn change_table(
    scope: McpScopeArg,
    change: impl FnOnce(&mut Map<String, Value>),
) -> anyhow::Result<()> {
    let folder = here()?;
    let folder_of_scope = match scope {
        McpScopeArg::Project => {
            let mut servers = server_list::project_servers(&folder)?;
            change(&mut servers);
            let text = serde_json::to_string_pretty(&json!({"mcpServers": servers}))? + "\n";
            let path = folder.join(PROJECT_FILE);
            return std::fs::write(&path, text)
                .with_context(|| format!("cannot write {}; make it writable", path.display()));
        }
        McpScopeArg::Local => Some(folder),
        McpScopeArg::User => None,
    };
    let path = user_file::path().context("no home folder found; set HOME")?;
    let _lock = private_file::lock(&path.with_extension("json.windlass-lock"))?;
    let mut own = user_file::read()?;
    change(own.servers_mut(folder_of_scope.as_deref())?);
    own.write()
}

fn scope_name(scope: McpScopeArg) -> &'static str {
    match scope {
        McpScopeArg::Local => "local",
        McpScopeArg::User => "user",
        McpScopeArg::Project => "project",
    }
}
