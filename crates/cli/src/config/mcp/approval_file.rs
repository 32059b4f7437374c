//! What was approved of servers: the hash of each configuration, and of the definition of each tool.
//! A tool whose definition changes is withheld until the approval is reset.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use windlass::mcp::{FirstSeenApprovals, ToolApprovals, ToolDefinition, TransportConfig};
use windlass::tools::read_following_links;

use super::{ConfiguredServer, ServerScope, private_file, remembered_tools};
use crate::config::paths;

/// Maximum size of the file in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The file version that this program writes and reads.
const VERSION: u32 = 1;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalFile {
    version: u32,
    /// By scope, folder and name.
    servers: BTreeMap<String, ApprovedServer>,
}

/// What was approved of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovedServer {
    /// The hash of its configuration.
    config: String,
    /// The hash of each tool.
    tools: BTreeMap<String, String>,
}

/// The path of the file.
pub(crate) fn path() -> anyhow::Result<PathBuf> {
    Ok(paths::state_folder()?.join("mcp-approvals.json"))
}

/// Approvals that last: the first definitions of a server are approved with its configuration, later
/// ones are compared. A server of the command line is approved by being typed; its tools may not
/// change while the process runs.
pub(crate) struct RecordedApprovals {
    folder: PathBuf,
    servers: Vec<ConfiguredServer>,
    in_process: FirstSeenApprovals,
}

impl RecordedApprovals {
    pub(crate) fn new(folder: &Path, servers: &[ConfiguredServer]) -> Self {
        let (folder, servers) = (folder.to_owned(), servers.to_vec());
        Self { folder, servers, in_process: FirstSeenApprovals::default() }
    }

    /// Names what is remembered of a server: it belongs to one configuration in one folder.
    fn remembered_key(&self, server: &ConfiguredServer) -> String {
        let ConfiguredServer { name, scope, hash, .. } = server;
        format!("{scope} {name} {hash} {}", self.folder.display())
    }

    fn compare(
        &self,
        server: &ConfiguredServer,
        definitions: &[ToolDefinition],
    ) -> anyhow::Result<Vec<String>> {
        let _lock = lock()?;
        let mut file = read()?;
        let key = key_of(server.scope, &self.folder, &server.name);
        let mut approved = file.servers.get(&key).cloned().unwrap_or_default();
        if approved.config != server.hash {
            // Another configuration was approved as such: by the trust of the folder, or by the user
            // who wrote it.
            approved = ApprovedServer { config: server.hash.clone(), ..ApprovedServer::default() };
        }
        let mut withheld = Vec::new();
        for definition in definitions {
            let hash = definition.hash();
            let known =
                approved.tools.entry(definition.name.clone()).or_insert_with(|| hash.clone());
            if *known != hash {
                withheld.push(definition.name.clone());
            }
        }
        if file.servers.get(&key) != Some(&approved) {
            file.servers.insert(key, approved);
            write(&file)?;
        }
        Ok(withheld)
    }
}

/// Returns whether a server is likely to offer the same tools next time. One inside of the program
/// that drives this process is known by its name alone, which says nothing about its tools.
fn is_memorable(server: &ConfiguredServer) -> bool {
    !matches!(&server.config, Ok(config) if config.transport == TransportConfig::Sdk)
}

impl ToolApprovals for RecordedApprovals {
    fn withheld(&self, server: &str, definitions: &[ToolDefinition]) -> Vec<String> {
        let configured = self.servers.iter().find(|configured| configured.name == server);
        let recorded = configured.filter(|configured| configured.scope != ServerScope::Dynamic);
        let compared = recorded.map(|configured| self.compare(configured, definitions));
        let withheld = match compared {
            Some(Ok(withheld)) => withheld,
            // Without the file nothing is known of earlier runs.
            Some(Err(_)) | None => self.in_process.withheld(server, definitions),
        };
        if let Some(configured) = configured.filter(|server| is_memorable(server)) {
            let approved = definitions.iter().filter(|tool| !withheld.contains(&tool.name));
            let approved: Vec<_> = approved.cloned().collect();
            remembered_tools::remember(&self.remembered_key(configured), &approved);
        }
        withheld
    }

    fn remembered(&self, server: &str) -> Vec<ToolDefinition> {
        let configured = self.servers.iter().find(|configured| configured.name == server);
        let Some(configured) = configured.filter(|server| is_memorable(server)) else {
            return Vec::new();
        };
        let tools = remembered_tools::read(&self.remembered_key(configured));
        if configured.scope == ServerScope::Dynamic {
            return tools;
        }
        let key = key_of(configured.scope, &self.folder, &configured.name);
        let file = read().unwrap_or_default();
        let approved = file.servers.get(&key).filter(|known| known.config == configured.hash);
        let Some(approved) = approved else { return Vec::new() };
        let is_approved =
            |tool: &ToolDefinition| approved.tools.get(&tool.name) == Some(&tool.hash());
        tools.into_iter().filter(is_approved).collect()
    }
}

/// Forgets what was approved of servers: of one, or of all. Returns how many there were.
pub(crate) fn reset(folder: &Path, name: Option<&str>) -> anyhow::Result<usize> {
    let _lock = lock()?;
    let mut file = read()?;
    let before = file.servers.len();
    let scopes = [ServerScope::Local, ServerScope::Project, ServerScope::User, ServerScope::Plugin];
    match name {
        None => file.servers.clear(),
        Some(name) => scopes.into_iter().for_each(|scope| {
            file.servers.remove(&key_of(scope, folder, name));
        }),
    }
    let removed = before - file.servers.len();
    if removed > 0 {
        write(&file)?;
    }
    Ok(removed)
}

fn key_of(scope: ServerScope, folder: &Path, name: &str) -> String {
    let folder = match scope {
        ServerScope::User | ServerScope::Plugin | ServerScope::Dynamic => String::new(),
        ServerScope::Local | ServerScope::Project => folder.to_string_lossy().into_owned(),
    };
    format!("{scope} {name} {folder}")
}

fn lock() -> anyhow::Result<std::fs::File> {
    let path = path()?.with_extension("lock");
    private_file::lock(&path).with_context(|| format!("cannot open {}", path.display()))
}

fn read() -> anyhow::Result<ApprovalFile> {
    let path = path()?;
    let shown = path.display();
    let advice = "fix it, or remove it with `windlass mcp reset-approvals`";
    let file = read_following_links(&path, MAX_FILE_BYTES)
        .and_then(|begun| begun.map(|begun| begun.into_text(MAX_FILE_BYTES)).transpose());
    let Some(text) = file.map_err(|why| anyhow::anyhow!("the file {shown} {why}"))? else {
        return Ok(ApprovalFile { version: VERSION, ..ApprovalFile::default() });
    };
    let file: ApprovalFile = serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{shown} is not valid ({error}); {advice}"))?;
    match file.version {
        VERSION => Ok(file),
        other => bail!("{shown} has version {other}, which is newer than this program; {advice}"),
    }
}

fn write(file: &ApprovalFile) -> anyhow::Result<()> {
    let path = path()?;
    let text = serde_json::to_string_pretty(file)? + "\n";
    private_file::write(&path, &text)
        .with_context(|| format!("cannot write {}; make it writable", path.display()))
}
