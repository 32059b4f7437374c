//! Runs the slash commands of the session.

use windlass::core::settings::run_settings::RunSettings;

use super::command_table::{KEYS, command_candidates};
use super::mention_names::server_prompts;
use super::session_loop::{Ending, SessionLoop};
use crate::commands::local_commands;
use crate::config::claude::custom_commands::CustomCommand;
use crate::inspect::history::ConversationHistory;
use crate::messages;
use crate::prompt::session_events;
use crate::prompt::slash_command::{self, LocalCommand, LocalCommandCall, SlashCommand};
use crate::setup::session_changes::expand_custom_command;
use crate::terminal::Color;

impl SessionLoop {
    /// Runs a slash command.
    pub(super) async fn run_command(&mut self, typed: &str) -> anyhow::Result<()> {
        let words = typed.trim().trim_start_matches('/');
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let begin = self.model.view.finished.len();
        self.run_and_report(name, rest, typed).await;
        self.model.view.head_output(begin, typed.trim());
        Ok(())
    }

    async fn run_and_report(&mut self, name: &str, rest: &str, typed: &str) {
        if let Err(error) = Box::pin(self.run_named_command(name, rest.trim(), typed)).await {
            self.model.view.add_note(Color::Red, &format!("{error:#}"));
        }
    }

    async fn run_named_command(
        &mut self,
        name: &str,
        rest: &str,
        typed: &str,
    ) -> anyhow::Result<()> {
        match name {
            "quit" | "exit" => self.ending = Some(Ending::Left),
            "help" => self.show_help(),
            "model" => self.choose_model(rest).await?,
            "effort" => self.choose_effort(rest).await?,
            "mode" => self.choose_mode(rest).await?,
            "permissions" => self.run_permissions(rest)?,
            "vim" => self.toggle_vi_keys(),
            "clear" => self.clear_conversation().await?,
            "fork" => self.fork_conversation().await?,
            "resume" => self.resume_conversation(rest).await?,
            "rewind" => self.open_rewind().await?,
            "export" => self.export_conversation(rest).await?,
            "agents" => self.show_agents(),
            "mcp" => self.show_mcp_servers(rest)?,
            "skills" => self.show_skills(),
            "hooks" => self.show_hooks()?,
            "memory" => self.choose_memory_file()?,
            "init" => self.start_init().await?,
            "explain" => self.explain_run(rest).await?,
            "doctor" => self.show_doctor().await,
            "status" => self.show_status(),
            "tasks" => self.show_tasks(rest).await?,
            "queue" => self.list_queue()?,
            _ => self.run_other_command(typed).await?,
        }
        Ok(())
    }

    async fn run_other_command(&mut self, typed: &str) -> anyhow::Result<()> {
        match slash_command::parse_slash(typed, &self.setup.custom_commands)? {
            Some(SlashCommand::Local(call)) => self.run_local_command(&call).await,
            Some(SlashCommand::Custom(custom, rest)) => self.run_custom(&custom, &rest).await,
            None => {
                self.model.send_as_typed(typed.to_owned());
                Ok(())
            }
        }
    }

    /// Sends the prompt of a custom command; its rules and model apply to this prompt alone.
    async fn run_custom(&mut self, command: &CustomCommand, rest: &str) -> anyhow::Result<()> {
        if self.active.is_some() {
            anyhow::bail!("/{} starts a run; wait until this one has ended", command.name);
        }
        let settings = self.setup.settings.clone();
        let (text, settings) = expand_custom_command((command, rest), settings, &self.print.agent)?;
        let typed = (command.name.as_str(), rest);
        let text = session_events::announce_expansion(&self.session, typed, text).await?;
        self.try_send(&text, RunSettings::from_settings(&settings)).await
    }

    async fn run_local_command(&mut self, call: &LocalCommandCall) -> anyhow::Result<()> {
        let history = self.load_history().await?;
        let text = match call.name {
            LocalCommand::Cost => messages::local_command::conversation_cost(&history),
            LocalCommand::Context => {
                local_commands::context_report(&history, &call.arguments).await?
            }
            LocalCommand::Compact => {
                local_commands::request_compaction_if_useful(&history, &self.setup, &call.arguments)
                    .await?
            }
            LocalCommand::Cancel => {
                self.model.interrupt();
                return Ok(());
            }
            LocalCommand::Clear | LocalCommand::Help => return Ok(()),
        };
        self.add_note(&text);
        Ok(())
    }

    /// The log of the conversation; empty before its first prompt.
    pub(super) async fn load_history(&self) -> anyhow::Result<ConversationHistory> {
        let lane = self.session.lane().clone();
        Ok(match self.setup.store.lane_info(lane.clone()).await? {
            Some(_) => ConversationHistory::load(self.setup.store.as_ref(), lane).await?,
            None => ConversationHistory::empty(lane),
        })
    }

    fn show_help(&mut self) {
        let view = &mut self.model.view;
        view.add_note(Color::Bold, "Keys");
        for (key, what) in KEYS {
            view.add_note(Color::Dim, &format!("  {key:<21} {what}"));
        }
        view.add_note(Color::Bold, "Commands");
        let prompts = server_prompts(&self.setup.mcp);
        let commands = command_candidates(&self.setup.custom_commands);
        for candidate in commands.into_iter().chain(prompts) {
            view.add_note(Color::Dim, &format!("  {:<21} {}", candidate.text, candidate.about));
        }
    }
}
