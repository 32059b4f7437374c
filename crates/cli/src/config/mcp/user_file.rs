//! The user's file of Claude Code, `~/.claude.json`: the servers for every folder, and those for one.
//! Everything else in it is kept as it is.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use windlass::tools::read_following_links;

use super::private_file;
use crate::config::paths;

/// Maximum size of the file in bytes: it has the history of every folder.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The user's file, as it was read.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserFile(Map<String, Value>);

/// The path of the file.
pub(crate) fn path() -> Option<PathBuf> {
    paths::user_claude_file()
}

/// Reads the file; without one it is empty.
pub(crate) fn read() -> anyhow::Result<UserFile> {
    let Some(path) = path() else { return Ok(UserFile::default()) };
    let shown = path.display();
    let file = read_following_links(&path, MAX_FILE_BYTES)
        .and_then(|begun| begun.map(|begun| begun.into_text(MAX_FILE_BYTES)).transpose());
    let Some(text) = file.map_err(|why| anyhow::anyhow!("the file {shown} {why}"))? else {
        return Ok(UserFile::default());
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(table)) => Ok(UserFile(table)),
        Ok(_) => bail!("{shown} is not a JSON object; fix it or remove it"),
        Err(error) => bail!("{shown} is not valid JSON ({error}); fix it or remove it"),
    }
}

impl UserFile {
    /// The servers for every folder.
    pub(crate) fn user_servers(&self) -> Map<String, Value> {
        servers_of(&self.0)
    }

    /// The servers for one folder.
    pub(crate) fn local_servers(&self, folder: &Path) -> Map<String, Value> {
        let key = folder.to_string_lossy();
        let project = self.0.get("projects").and_then(|projects| projects.get(&*key));
        project.and_then(Value::as_object).map(servers_of).unwrap_or_default()
    }

    /// The servers of a scope, to be changed: of one folder, or of every folder.
    pub(crate) fn servers_mut(
        &mut self,
        folder: Option<&Path>,
    ) -> anyhow::Result<&mut Map<String, Value>> {
        let table = match folder {
            None => &mut self.0,
            Some(folder) => {
                let projects = object_at(&mut self.0, "projects")?;
                object_at(projects, &folder.to_string_lossy())?
            }
        };
        object_at(table, "mcpServers")
    }

    /// Replaces the file.
    pub(crate) fn write(&self) -> anyhow::Result<()> {
        let Some(path) = path() else { bail!("no home folder found; set HOME") };
        // A link stays a link.
        let path = path.canonicalize().unwrap_or(path);
        let text = serde_json::to_string_pretty(&self.0)? + "\n";
        private_file::write(&path, &text)
            .with_context(|| format!("cannot write {}; make it writable", path.display()))
    }
}

fn servers_of(table: &Map<String, Value>) -> Map<String, Value> {
    table.get("mcpServers").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn object_at<'a>(
    table: &'a mut Map<String, Value>,
    name: &str,
) -> anyhow::Result<&'a mut Map<String, Value>> {
    let value = table.entry(name).or_insert_with(|| json!({}));
    value
        .as_object_mut()
        .with_context(|| format!("`{name}` in ~/.claude.json is not a JSON object"))
}
