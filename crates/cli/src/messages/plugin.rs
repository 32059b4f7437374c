//! Sentences about plugins.

use std::path::Path;

use crate::config::plugins::Plugin;
use crate::config::plugins::installed_plugins::InstalledPlugin;

pub(crate) const NO_PLUGINS: &str =
    "No plugins are installed; install one with `windlass plugin install FOLDER`.";

/// Everything that an installation approves, one line each.
pub(crate) fn plugin_grants(plugin: &Plugin) -> Vec<String> {
    let mut lines = vec![format!("{} brings {}.", plugin_title(plugin), plugin.summarize())];
    lines.extend(plugin.hook_commands().iter().map(|hook| format!("  hook         {hook}")));
    lines.extend(plugin.server_lines().iter().map(|server| format!("  MCP server   {server}")));
    lines.extend(plugin.rule_lines().iter().map(|rules| format!("  rules        {rules}")));
    lines
}

/// The question before an installation.
pub(crate) const INSTALL_PLUGIN: &str =
    "Install it? Its hooks and servers run with your rights. [y/n]";

/// Nobody can be asked whether to install a plugin.
pub(crate) fn plugin_needs_approval(folder: &Path) -> String {
    format!(
        "installing a plugin requires approval, and no one is available to approve it; run \
         `windlass plugin install --yes {}`",
        folder.display()
    )
}

pub(crate) fn plugin_installed(plugin: &Plugin, is_update: bool) -> String {
    match is_update {
        true => format!("The plugin {} was replaced.", plugin.name),
        false => format!("The plugin {} is installed.", plugin.name),
    }
}

pub(crate) fn plugin_switched(name: &str, enabled: bool, is_changed: bool) -> String {
    let state = if enabled { "enabled" } else { "disabled" };
    let already = if is_changed { "" } else { "already " };
    format!("The plugin {name} is {already}{state}.")
}

pub(crate) fn plugin_removed(name: &str) -> String {
    format!("The plugin {name} is removed.")
}

/// An installed plugin, on one line.
pub(crate) fn plugin_line(installed: &InstalledPlugin, plugin: &anyhow::Result<Plugin>) -> String {
    let state = if installed.enabled { "enabled" } else { "disabled" };
    match plugin {
        Ok(plugin) => format!("{} ({state}): {}", plugin_title(plugin), plugin.summarize()),
        Err(error) => format!("{} ({state}): not usable: {error:#}", installed.name),
    }
}

fn plugin_title(plugin: &Plugin) -> String {
    match &plugin.version {
        Some(version) => format!("{} {version}", plugin.name),
        None => plugin.name.clone(),
    }
}
