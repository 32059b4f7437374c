//! Commands that show something: agents, servers, skills, hooks, memory files, runs, checks.

use std::path::PathBuf;

use anyhow::bail;
use serde_json::Value;
use windlass::core::settings::run_settings::RunSettings;

use super::picker::{Picker, PickerChoice, PickerItem};
use super::session_loop::SessionLoop;
use crate::args::inspect_args::DoctorArgs;
use crate::commands::explain::read_explanation;
use crate::config::claude::{memory_files, settings_sources};
use crate::config::paths;
use crate::config::trust::folder_trust::FolderTrust;
use crate::inspect::doctor::{self, CheckHealth, DoctorCheck};
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup;
use crate::messages;
use crate::setup::{self, FolderSandbox};
use crate::terminal::number_format::format_bytes;
use crate::terminal::{Color, OutputStyle, to_one_line};

/// Maximum characters of a description in a list.
const MAX_DESCRIPTION_CHARS: usize = 100;

impl SessionLoop {
    fn add_lines(&mut self, title: &str, lines: &[String], nothing: &str) {
        self.model.view.add_note(Color::Bold, title);
        if lines.is_empty() {
            self.add_note(&format!("  {nothing}"));
        }
        lines.iter().for_each(|line| self.add_note(&format!("  {line}")));
    }

    pub(super) fn show_agents(&mut self) {
        let described = self.setup.agents.descriptions.iter();
        let line = |(name, about): (&String, &String)| {
            format!("{name}  {}", to_one_line(about, MAX_DESCRIPTION_CHARS))
        };
        let lines: Vec<String> = described.map(line).collect();
        let nothing = "none; write them as files in .claude/agents";
        self.add_lines("Sub-agents", &lines, nothing);
    }

    pub(super) fn show_mcp_servers(&mut self, name: &str) -> anyhow::Result<()> {
        let servers = self.setup.mcp.list();
        if name.is_empty() {
            let lines: Vec<String> =
                servers.iter().map(|server| messages::mcp_server_line(server)).collect();
            self.add_lines("MCP servers", &lines, messages::NO_MCP_SERVERS);
            return Ok(());
        }
        let Some(server) = servers.iter().find(|server| server.name() == name) else {
            bail!(messages::mcp_server_unknown(name));
        };
        let lines = messages::mcp_server_details(server);
        self.add_lines(&messages::mcp_server_line(server), &lines, "no tools");
        Ok(())
    }

    pub(super) fn show_skills(&mut self) {
        let customs = &self.setup.custom_commands;
        let line = |name: &String| {
            let page = customs.iter().find(|custom| custom.name == *name);
            match page.and_then(|custom| custom.read_page().ok()) {
                Some(page) => {
                    format!("/{name}  {}", to_one_line(&page.description, MAX_DESCRIPTION_CHARS))
                }
                None => format!("{name}  the model alone loads it"),
            }
        };
        let lines: Vec<String> = self.setup.skills.iter().map(line).collect();
        self.add_lines("Skills", &lines, "none; write them as .claude/skills/NAME/SKILL.md");
    }

    pub(super) fn show_hooks(&mut self) -> anyhow::Result<()> {
        let folder = self.load_folder()?;
        let sources = settings_sources::effective_sources(&self.print.agent.permissions, &folder)?;
        if sources.iter().any(|source| source.disable_all_hooks) {
            self.add_lines("Hooks", &[], "all hooks are switched off (disableAllHooks)");
            return Ok(());
        }
        let lines: Vec<String> =
            sources.iter().flat_map(|source| hook_lines(&source.hooks)).collect();
        self.add_lines("Hooks", &lines, "none; write them into `hooks` of a settings file");
        Ok(())
    }

    fn load_folder(&self) -> anyhow::Result<FolderTrust> {
        let permissions = &self.print.agent.permissions;
        FolderTrust::load(&self.setup.workspace, |source| permissions.reads_source(source))
    }

    /// Lists the memory files, to edit one of them.
    pub(super) fn choose_memory_file(&mut self) -> anyhow::Result<()> {
        let folder = self.load_folder()?;
        let permissions = &self.print.agent.permissions;
        let found =
            memory_files::load_memory_files(&folder, |source| permissions.reads_source(source));
        let item = |path: PathBuf, about: String| PickerItem {
            label: super::opening::short_folder(&path),
            about,
            choice: PickerChoice::MemoryFile(path),
        };
        let mut items: Vec<PickerItem> = Vec::new();
        for file in &found.files {
            items.push(item(file.path.clone(), format_bytes(file.text.len() as u64)));
        }
        let user = paths::user_settings_folder().map(|folder| folder.join("CLAUDE.md"));
        let own = [Some(self.setup.workspace.join("CLAUDE.md")), user];
        for path in own.into_iter().flatten().filter(|path| !path.exists()) {
            items.push(item(path, "does not exist yet".to_owned()));
        }
        self.model.picker = Some(Picker::new("Edit which memory file?", items));
        Ok(())
    }

    /// Has the model write the memory file of the project.
    pub(super) async fn start_init(&mut self) -> anyhow::Result<()> {
        self.check_idle("/init")?;
        self.model.view.add_prompt("/init");
        let settings = RunSettings::from_settings(&self.setup.settings);
        self.try_send(messages::INIT_PROMPT, settings).await
    }

    /// Explains the newest run, or the one with this id.
    pub(super) async fn explain_run(&mut self, id: &str) -> anyhow::Result<()> {
        let store = self.setup.store.as_ref();
        let (history, run) = match id {
            "" => {
                let history = self.load_history().await?;
                let run = history.newest_run_id();
                (history, run)
            }
            id => {
                let found = id_lookup::find_target(store, Some(id), &self.setup.workspace).await?;
                let history = ConversationHistory::load(store, found.lane).await?;
                let run = found.run.or_else(|| history.newest_run_id());
                (history, run)
            }
        };
        let Some(run) = run else { bail!("there is no run to explain yet") };
        let account = read_explanation(store, &history, &run).await?;
        for line in account.to_lines(OutputStyle::with_width(self.model.view.width)) {
            // Headings are not indented.
            let is_heading = !line.starts_with(' ');
            let color = if is_heading { Color::Bold } else { Color::Dim };
            self.model.view.add_note(color, &line);
            if line.is_empty() {
                self.model.view.blank_line();
            }
        }
        Ok(())
    }

    pub(super) async fn show_doctor(&mut self) {
        let args = DoctorArgs { store: self.print.agent.store.clone(), json: false };
        for check in doctor::run_checks(&args).await {
            let check = self.check_session_model(check);
            let color = match check.health {
                CheckHealth::Ok => Color::Dim,
                CheckHealth::Note => Color::Yellow,
                CheckHealth::Broken => Color::Red,
            };
            self.model.view.add_note(color, &check.to_line(OutputStyle::plain()));
        }
    }

    /// The check of the model, which the session has chosen already.
    fn check_session_model(&self, check: DoctorCheck) -> DoctorCheck {
        let model = &self.setup.settings.model;
        match check.name == "model" && !model.name.is_empty() {
            true => DoctorCheck {
                health: CheckHealth::Ok,
                message: messages::report::doctor::default_model(model, "this session"),
                ..check
            },
            false => check,
        }
    }

    pub(super) fn show_status(&mut self) {
        let (permissions, store) = (&self.print.agent.permissions, &self.print.agent.store);
        let sandbox = match setup::sandbox_of_folder(permissions, store) {
            Ok(FolderSandbox { choice, .. }) => {
                format!("{} ({})", choice.level.level.name(), choice.level.decided_by)
            }
            Err(error) => format!("{error:#}"),
        };
        let place = setup::store_path(store).map(|path| path.display().to_string());
        let lines = [
            format!("version       {}", env!("CARGO_PKG_VERSION")),
            format!("conversation  {}", self.session.lane()),
            format!("folder        {}", self.setup.workspace.display()),
            format!("model         {}", self.setup.settings.model.name),
            format!("mode          {}", messages::stored_name(&self.setup.settings.rules.mode)),
            format!("sandbox       {sandbox}"),
            format!("store         {}", place.unwrap_or_else(|error| format!("{error:#}"))),
        ];
        lines.iter().for_each(|line| self.add_note(line));
    }
}

/// The hooks of a settings file: event, tools, command.
fn hook_lines(hooks: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for (event, groups) in hooks.as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let matcher = group.get("matcher").and_then(Value::as_str).unwrap_or_default();
            let of_tools = if matcher.is_empty() { String::new() } else { format!(" ({matcher})") };
            for hook in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                let what = ["command", "prompt", "url"];
                let what = what.iter().find_map(|name| hook.get(*name)?.as_str());
                lines.push(format!("{event}{of_tools}: {}", what.unwrap_or("a hook")));
            }
        }
    }
    lines
}
