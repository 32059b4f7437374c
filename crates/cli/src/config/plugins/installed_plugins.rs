//! The plugins that the user installed: copies beside `config.toml`, and a record of each. A copy that
//! is not what was approved is an error, not a plugin.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use windlass::tools::{nearest_name, read_following_links};

use super::{Plugin, plugin_content};
use crate::config::mcp::private_file;
use crate::config::paths;

/// Maximum size of the record in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The version of the record that this program writes and reads.
const FILE_VERSION: u32 = 1;

/// The record of the installed plugins.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstalledPlugins {
    version: u32,
    pub(crate) plugins: Vec<InstalledPlugin>,
}

/// One installed plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InstalledPlugin {
    pub(crate) name: String,
    /// The folder it was installed from.
    pub(crate) source: PathBuf,
    pub(crate) enabled: bool,
    /// The hash of the content that was approved.
    hash: String,
}

impl InstalledPlugin {
    /// The folder of its copy.
    pub(crate) fn root(&self) -> anyhow::Result<PathBuf> {
        Ok(plugins_folder()?.join(&self.name))
    }

    /// Reads the plugin, if it is still what was approved.
    pub(crate) fn load(&self) -> anyhow::Result<Plugin> {
        let name = &self.name;
        let advice = format!(
            "install it again with `windlass plugin install {}`, or remove it with `windlass plugin remove {name}`",
            self.source.display()
        );
        let root = self.root()?;
        let hash = plugin_content::content_hash(&root)
            .with_context(|| format!("the plugin {name} cannot be read; {advice}"))?;
        if hash != self.hash {
            bail!("the plugin {name} was changed after it was installed; {advice}");
        }
        let plugin = Plugin::read(&root).with_context(|| advice.clone())?;
        match plugin.name == *name {
            true => Ok(plugin),
            false => bail!("the plugin {name} calls itself {}; {advice}", plugin.name),
        }
    }
}

/// Reads the record; without one nothing is installed.
pub(crate) fn read() -> anyhow::Result<InstalledPlugins> {
    let Ok(path) = record_path() else { return Ok(InstalledPlugins::default()) };
    let shown = path.display();
    let file = read_following_links(&path, MAX_FILE_BYTES)
        .and_then(|begun| begun.map(|begun| begun.into_text(MAX_FILE_BYTES)).transpose());
    let Some(text) = file.map_err(|why| anyhow::anyhow!("the file {shown} {why}"))? else {
        return Ok(InstalledPlugins::default());
    };
    let advice = "fix it, or remove it and install your plugins again";
    let record: InstalledPlugins = serde_json::from_str(&text)
        .map_err(|error| anyhow::anyhow!("{shown} is not valid ({error}); {advice}"))?;
    match record.version {
        FILE_VERSION => Ok(record),
        other => bail!("{shown} has version {other}, which this program does not know; {advice}"),
    }
}

/// Installs a plugin, or replaces it, if its copy is what was shown; returns whether it was there
/// before.
pub(crate) fn install(shown: &Plugin) -> anyhow::Result<bool> {
    let source = shown.root.clone();
    let plugin = shown;
    let _lock = lock()?;
    let mut record = read()?;
    let folder = plugins_folder()?;
    if source.starts_with(&folder) {
        bail!("{} is a copy that is installed; give the folder it came from", source.display());
    }
    let (copy, place) = (folder.join(format!(".{}.new", plugin.name)), folder.join(&plugin.name));
    remove_folder(&copy)?;
    DirBuilder::new().recursive(true).mode(0o700).create(&copy)?;
    let hash = plugin_content::copy_plugin(&source, &copy);
    let hash = hash.inspect_err(|_| _ = std::fs::remove_dir_all(&copy))?;
    let copied = Plugin::read(&copy).map(|copied| Plugin { root: source.clone(), ..copied });
    if copied.is_ok_and(|copied| copied.grants() == shown.grants()) {
        remove_folder(&place)?;
        std::fs::rename(&copy, &place)?;
    } else {
        remove_folder(&copy)?;
        bail!("{} was changed while it was installed; try again", source.display());
    }
    let before = record.plugins.iter().position(|known| known.name == plugin.name);
    let before = before.map(|at| record.plugins.remove(at));
    let enabled = before.as_ref().is_none_or(|before| before.enabled);
    record.plugins.push(InstalledPlugin { name: plugin.name.clone(), source, enabled, hash });
    record.plugins.sort_by(|one, other| one.name.cmp(&other.name));
    write(&record)?;
    Ok(before.is_some())
}

/// Enables or disables a plugin; returns whether that changed anything.
pub(crate) fn set_enabled(name: &str, enabled: bool) -> anyhow::Result<bool> {
    let _lock = lock()?;
    let mut record = read()?;
    let at = position(&record, name)?;
    let Some(plugin) = record.plugins.get_mut(at) else { return Ok(false) };
    let is_changed = plugin.enabled != enabled;
    plugin.enabled = enabled;
    write(&record)?;
    Ok(is_changed)
}

/// Removes a plugin and its copy.
pub(crate) fn remove(name: &str) -> anyhow::Result<()> {
    let _lock = lock()?;
    let mut record = read()?;
    let removed = record.plugins.remove(position(&record, name)?);
    write(&record)?;
    remove_folder(&removed.root()?)
}

fn position(record: &InstalledPlugins, name: &str) -> anyhow::Result<usize> {
    let names = || record.plugins.iter().map(|plugin| plugin.name.as_str());
    let Some(at) = names().position(|known| known == name) else {
        let near = nearest_name(name, names());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        bail!("no plugin is called {name}{near}; `windlass plugin list` shows what is installed");
    };
    Ok(at)
}

fn remove_folder(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The folder with the copies.
fn plugins_folder() -> anyhow::Result<PathBuf> {
    Ok(config_folder()?.join("plugins"))
}

fn record_path() -> anyhow::Result<PathBuf> {
    Ok(config_folder()?.join("plugins.json"))
}

fn config_folder() -> anyhow::Result<PathBuf> {
    let path = paths::config_path().context("no home folder found; set HOME")?;
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    // Where the folder is must not depend on where a process was started.
    Ok(std::path::absolute(folder)?)
}

fn lock() -> anyhow::Result<std::fs::File> {
    let path = config_folder()?.join("plugins.lock");
    private_file::lock(&path).with_context(|| format!("cannot write {}", path.display()))
}

fn write(record: &InstalledPlugins) -> anyhow::Result<()> {
    let record = InstalledPlugins { version: FILE_VERSION, ..record.clone() };
    let path = record_path()?;
    let text = serde_json::to_string_pretty(&record)? + "\n";
    private_file::write(&path, &text)
        .with_context(|| format!("cannot write {}; make it writable", path.display()))
}
