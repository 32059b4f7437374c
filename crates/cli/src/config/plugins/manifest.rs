//! The manifest of a plugin, `.claude-plugin/plugin.json`, and the files beside it that say what runs:
//! `hooks/hooks.json` and `.mcp.json`. A plugin without a manifest is named after its folder.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value};

use super::{MAX_FILE_BYTES, Plugin};
use crate::config::claude::config_file::{ConfigFile, FileOwner};
use crate::config::claude::settings_check::SettingsFindings;
use crate::config::claude::unique_keys;

/// The manifest beneath the folder of a plugin.
pub(super) const FILE: &str = ".claude-plugin/plugin.json";

/// Maximum length of the name of a plugin.
const MAX_NAME_CHARS: usize = 64;

/// Keys that have an effect, or describe the plugin.
const KEYS: [&str; 17] = [
    "$schema",
    "agents",
    "author",
    "category",
    "commands",
    "description",
    "displayName",
    "homepage",
    "hooks",
    "keywords",
    "license",
    "mcpServers",
    "name",
    "repository",
    "skills",
    "tags",
    "version",
];

/// Further keys of Claude Code.
const ELSEWHERE_KEYS: &[&str] = &[
    "channels",
    "defaultEnabled",
    "dependencies",
    "experimental",
    "lspServers",
    "monitors",
    "outputStyles",
    "settings",
    "strict",
    "themes",
    "userConfig",
];

/// Reads the plugin in a folder.
pub(super) fn read_plugin(root: &Path) -> anyhow::Result<Plugin> {
    let manifest = read_object(root, FILE)?;
    let named = manifest.as_ref().map(|table| required_name(table)).transpose()?;
    let folder_name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = named.unwrap_or(folder_name);
    check_name(name)?;
    let name = name.to_owned();
    let manifest = manifest.unwrap_or_default();
    let text = |key: &str| match manifest.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => bail!("{FILE}: `{key}` must be a text; fix it"),
    };
    let mut findings = SettingsFindings::default();
    for key in manifest.keys() {
        findings.check_name("key of a plugin manifest:", key, &KEYS, ELSEWHERE_KEYS);
    }
    if let Some(error) = findings.errors.first() {
        bail!("{FILE}: {error}");
    }
    let mut without_effect = findings.without_effect;
    without_effect.extend(findings.warnings);
    Ok(Plugin {
        version: text("version")?,
        description: text("description")?,
        hooks: read_hooks(root, manifest.get("hooks"))?,
        servers: read_servers(root, manifest.get("mcpServers"))?,
        without_effect,
        commands: places(root, "commands", &manifest)?,
        agents: places(root, "agents", &manifest)?,
        skills: places(root, "skills", &manifest)?,
        root: root.to_owned(),
        name,
    })
}

fn required_name(manifest: &Map<String, Value>) -> anyhow::Result<&str> {
    let name = manifest.get("name").and_then(Value::as_str);
    name.with_context(|| format!("{FILE} has no `name`; add one"))
}

/// Checks the name of a plugin: it is a part of names of commands and tools, and the name of a folder.
fn check_name(name: &str) -> anyhow::Result<()> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !begins || !name.chars().all(fits) || name.len() > MAX_NAME_CHARS {
        bail!(
            "the name {name:?} is not valid; use letters, digits, `-` and `_`, at most {MAX_NAME_CHARS}"
        );
    }
    Ok(())
}

/// Reads a JSON object beneath the folder; `None` if there is no such file.
fn read_object(root: &Path, name: &str) -> anyhow::Result<Option<Map<String, Value>>> {
    let text = ConfigFile::new(root, name, FileOwner::Project).read(MAX_FILE_BYTES);
    let Some(text) = text.map_err(|why| anyhow::anyhow!("{name} {why}"))? else { return Ok(None) };
    match unique_keys::parse(&text) {
        Ok(Value::Object(table)) => Ok(Some(table)),
        Ok(_) => bail!("{name} is not a JSON object; fix it"),
        Err(error) => bail!("{name} is not valid JSON ({error}); fix it"),
    }
}

/// The usual folder of a kind, and the places that the manifest adds.
fn places(root: &Path, kind: &str, manifest: &Map<String, Value>) -> anyhow::Result<Vec<PathBuf>> {
    let mut places = vec![PathBuf::from(kind)];
    for text in path_list(kind, manifest.get(kind))? {
        let path = inner_path(kind, text)?;
        if root.join(&path).symlink_metadata().is_err() {
            bail!("{FILE}: `{kind}` names {text}, which does not exist; fix it");
        }
        if !places.contains(&path) {
            places.push(path);
        }
    }
    Ok(places)
}

/// The paths in a value: one, or a list of them.
fn path_list<'a>(key: &str, value: Option<&'a Value>) -> anyhow::Result<Vec<&'a str>> {
    let wrong = || anyhow::anyhow!("{FILE}: `{key}` must be a path or a list of paths; fix it");
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(path)) => Ok(vec![path]),
        Some(Value::Array(list)) => {
            list.iter().map(|item| item.as_str().ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}

/// A path of the manifest, which must stay beneath the folder of the plugin.
fn inner_path(key: &str, text: &str) -> anyhow::Result<PathBuf> {
    let parts = Path::new(text).components().filter(|part| *part != Component::CurDir);
    let path: PathBuf = parts.clone().collect();
    let stays = parts.clone().all(|part| matches!(part, Component::Normal(_)));
    if !stays || path.as_os_str().is_empty() {
        bail!(
            "{FILE}: `{key}` names {text}; give a path in the folder of the plugin, such as ./{key}"
        );
    }
    Ok(path)
}

/// The hooks of `hooks/hooks.json`, and of the manifest: a path, a list of paths, or the hooks.
fn read_hooks(root: &Path, given: Option<&Value>) -> anyhow::Result<Map<String, Value>> {
    let usual = "hooks/hooks.json";
    let mut all = Map::new();
    if let Some(file) = read_object(root, usual)? {
        merge_hooks(&mut all, hooks_of(file));
    }
    match given {
        Some(Value::Object(inline)) => merge_hooks(&mut all, hooks_of(inline.clone())),
        given => {
            for text in path_list("hooks", given)? {
                let path = inner_path("hooks", text)?;
                let name = path.to_string_lossy();
                if name != usual {
                    let file = read_object(root, &name)?;
                    let file = file.with_context(|| format!("there is no file {name}"))?;
                    merge_hooks(&mut all, hooks_of(file));
                }
            }
        }
    }
    Ok(all)
}

/// The events of a file of hooks, which may have a description beside them.
fn hooks_of(mut file: Map<String, Value>) -> Map<String, Value> {
    match file.remove("hooks") {
        Some(Value::Object(events)) => events,
        Some(other) => Map::from_iter([("hooks".to_owned(), other)]),
        None => file,
    }
}

/// Adds hooks; the groups of an event follow those that are there.
pub(super) fn merge_hooks(all: &mut Map<String, Value>, more: Map<String, Value>) {
    for (event, groups) in more {
        match (all.get_mut(&event).and_then(Value::as_array_mut), groups) {
            (Some(known), Value::Array(groups)) => known.extend(groups),
            (_, groups) => drop(all.insert(event, groups)),
        }
    }
}

/// The servers of `.mcp.json`, and of the manifest: a path, a list of paths, or the servers.
fn read_servers(root: &Path, given: Option<&Value>) -> anyhow::Result<Map<String, Value>> {
    let usual = ".mcp.json";
    let mut all = Map::new();
    if let Some(file) = read_object(root, usual)? {
        all.extend(servers_of(usual, file)?);
    }
    match given {
        Some(Value::Object(inline)) => all.extend(servers_of(FILE, inline.clone())?),
        given => {
            for text in path_list("mcpServers", given)? {
                let path = inner_path("mcpServers", text)?;
                let name = path.to_string_lossy();
                let file = read_object(root, &name)?;
                let file = file.with_context(|| format!("there is no file {name}"))?;
                all.extend(servers_of(&name, file)?);
            }
        }
    }
    Ok(all)
}

/// The servers of a file, beneath `mcpServers` or by themselves.
fn servers_of(name: &str, mut file: Map<String, Value>) -> anyhow::Result<Map<String, Value>> {
    match file.remove("mcpServers") {
        Some(Value::Object(servers)) => Ok(servers),
        Some(_) => bail!("{name}: `mcpServers` must be a JSON object; fix it"),
        None => Ok(file),
    }
}
