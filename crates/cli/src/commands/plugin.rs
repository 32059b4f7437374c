//! `windlass plugin`: installs, lists, enables, disables and removes plugins.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::{Value, json};

use crate::args::PluginCommand;
use crate::config::plugins::Plugin;
use crate::config::plugins::installed_plugins::{self, InstalledPlugin};
use crate::{messages, terminal};

pub(crate) fn run(command: PluginCommand) -> anyhow::Result<ExitCode> {
    match command {
        PluginCommand::Install { folder, yes } => return install(&folder, yes),
        PluginCommand::List { json } => list(json)?,
        PluginCommand::Enable { name } => switch(&name, true)?,
        PluginCommand::Disable { name } => switch(&name, false)?,
        PluginCommand::Remove { name } => {
            installed_plugins::remove(&name)?;
            print_safe(&messages::plugin_removed(&name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn install(folder: &Path, is_approved: bool) -> anyhow::Result<ExitCode> {
    let shown = Plugin::read(folder)?;
    for line in messages::plugin_grants(&shown) {
        print_safe(&line);
    }
    if !is_approved && !ask_for_approval(folder)? {
        return Ok(ExitCode::FAILURE);
    }
    let is_update = installed_plugins::install(&shown)?;
    print_safe(&messages::plugin_installed(&shown, is_update));
    Ok(ExitCode::SUCCESS)
}

/// Asks at the terminal; without one that is an error.
fn ask_for_approval(folder: &Path) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        bail!(messages::plugin_needs_approval(folder));
    }
    // Input typed before the question was shown does not answer it.
    tcflush(io::stdin(), QueueSelector::IFlush)?;
    loop {
        let mut out = io::stderr();
        write!(out, "{} ", messages::INSTALL_PLUGIN)?;
        out.flush()?;
        let mut typed = String::new();
        if io::stdin().lock().read_line(&mut typed)? == 0 {
            return Ok(false);
        }
        match typed.trim() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => {}
        }
    }
}

fn list(as_json: bool) -> anyhow::Result<()> {
    let installed = installed_plugins::read()?.plugins;
    if as_json {
        let plugins: Vec<Value> = installed.iter().map(to_json).collect();
        terminal::print_line(&json!({ "plugins": plugins }).to_string());
        return Ok(());
    }
    if installed.is_empty() {
        terminal::print_line(messages::NO_PLUGINS);
    }
    for plugin in &installed {
        print_safe(&messages::plugin_line(plugin, &plugin.load()));
    }
    Ok(())
}

fn to_json(installed: &InstalledPlugin) -> Value {
    let base = json!({
        "name": installed.name,
        "enabled": installed.enabled,
        "source": installed.source,
    });
    let more = match installed.load() {
        Ok(plugin) => json!({
            "path": plugin.root,
            "version": plugin.version,
            "description": plugin.description,
            "commands": plugin.command_files().len(),
            "agents": plugin.agent_files().len(),
            "skills": plugin.skill_files().len(),
            "hooks": plugin.hook_commands(),
            "mcp_servers": plugin.server_lines(),
            "without_effect": plugin.without_effect,
        }),
        Err(error) => json!({ "error": format!("{error:#}") }),
    };
    let fields = [base, more].into_iter().filter_map(|part| part.as_object().cloned()).flatten();
    Value::Object(fields.collect())
}

fn switch(name: &str, enabled: bool) -> anyhow::Result<()> {
    let is_changed = installed_plugins::set_enabled(name, enabled)?;
    print_safe(&messages::plugin_switched(name, enabled, is_changed));
    Ok(())
}

fn print_safe(text: &str) {
    terminal::print_line(&terminal::sanitize_text(text));
}
