//! Slash commands of the session.

use windlass::core::permission::PermissionMode;
use windlass::core::settings::model_change::ModelChange;
use windlass::core::settings::run_settings::RunSettings;
use windlass::ports::SessionEndReason;

use super::completion::Candidate;
use super::session_loop::{Ending, SessionLoop};
use crate::commands::local_commands;
use crate::commands::newest_conversation::record_cleared_conversation;
use crate::config::claude::custom_commands::CustomCommand;
use crate::config::claude::permission_settings;
use crate::config::permission_mode::apply_mode;
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup::LANE_PREFIX;
use crate::messages;
use crate::prompt::command_arguments;
use crate::prompt::slash_command::{self, LocalCommand, LocalCommandCall, SlashCommand};
use crate::setup;
use crate::terminal::Color;

/// The commands of a session, with what they do.
const SESSION_COMMANDS: [(&str, &str); 10] = [
    ("clear", "start a new conversation; this one is kept"),
    ("compact", "compact the context now; text after it says what to keep"),
    ("context", "show how full the context is"),
    ("cost", "show what the conversation has used"),
    ("fork", "continue in a copy of the conversation"),
    ("help", "list keys and commands"),
    ("mode", "show or switch the permission mode (Shift-Tab)"),
    ("model", "show or switch the model"),
    ("permissions", "list the rules in force"),
    ("quit", "leave; the conversation is kept"),
];

/// The keys, for the help.
const KEYS: [(&str, &str); 13] = [
    ("Enter", "send; while the model works: tell it something on the way"),
    ("Alt-Enter", "new line; while the model works: queue the prompt behind the run"),
    ("Ctrl-J, \\ Enter", "new line"),
    ("Esc", "interrupt; while a call runs: once it is done, or at once with Esc again"),
    ("Ctrl-C", "clear the text, else interrupt; twice: leave (Ctrl-D, too)"),
    ("Shift-Tab", "switch the mode: ask first, allow edits, plan"),
    ("Up, Down", "older and newer prompts; Up takes a queued prompt back"),
    ("Ctrl-R", "search the prompts of all sessions"),
    ("Ctrl-O", "unfold the last output or thought"),
    ("Ctrl-G", "edit the prompt in $EDITOR"),
    ("Ctrl-A E B F K U W Y", "move and edit as in Emacs; Ctrl-_ undoes"),
    ("Ctrl-L, Ctrl-Z", "draw again; suspend until `fg`"),
    ("@path", "attach a file or the names in a folder; Tab completes"),
];

/// The names that a command can have, for completion.
pub(super) fn command_candidates(customs: &[CustomCommand]) -> Vec<Candidate> {
    let ours = SESSION_COMMANDS.iter().map(|(name, about)| (*name, *about));
    let theirs = customs.iter().map(|custom| (custom.name.as_str(), "your command"));
    let candidate = |(name, about): (&str, &str)| Candidate {
        text: format!("/{name}"),
        about: about.to_owned(),
    };
    ours.chain(theirs).map(candidate).collect()
}

/// The modes in the order of Shift-Tab, each with what it means.
const MODES: [(PermissionMode, &str); 3] = [
    (PermissionMode::Default, "Asks before anything but reads in the folder."),
    (PermissionMode::AcceptEdits, "Edits in the folder need no approval; commands do."),
    (PermissionMode::Plan, "Only reads, and ends with a plan for your approval."),
];

impl SessionLoop {
    /// Runs a slash command.
    pub(super) async fn run_command(&mut self, typed: &str) -> anyhow::Result<()> {
        let words = typed.trim().trim_start_matches('/');
        let (name, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let done = match name {
            "quit" | "exit" => {
                self.ending = Some(Ending::Left);
                Ok(())
            }
            "help" => {
                self.show_help();
                Ok(())
            }
            "model" => self.switch_model(rest.trim()).await,
            "mode" => self.choose_mode(rest.trim()).await,
            "permissions" => {
                self.show_permissions();
                Ok(())
            }
            "clear" => self.clear_conversation().await,
            "fork" => self.fork_conversation().await,
            _ => self.run_other_command(typed).await,
        };
        if let Err(error) = done {
            self.model.view.add_note(Color::Red, &format!("{error:#}"));
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
        let page = command
            .read_page()
            .map_err(|reason| anyhow::anyhow!("cannot use /{}: {reason}", command.name))?;
        let mut settings = self.setup.settings.clone();
        let rules = page.rules.iter().flat_map(|rules| permission_settings::split_list(rules));
        for rule in rules {
            settings.rules.allow.push(permission_settings::parse_rule(&rule)?);
        }
        if let Some(model) = page.model.filter(|_| self.print.agent.model.model.is_none()) {
            let mut args = self.print.agent.clone();
            args.model.model = Some(model);
            setup::select_model(&mut settings, &args)?;
        }
        let text = command_arguments::fill_arguments(&page.prompt, rest);
        self.try_send(&text, RunSettings::from_settings(&settings)).await
    }

    async fn run_local_command(&mut self, call: &LocalCommandCall) -> anyhow::Result<()> {
        let lane = self.session.lane().clone();
        let history = match self.setup.store.lane_info(lane.clone()).await? {
            Some(_) => ConversationHistory::load(self.setup.store.as_ref(), lane).await?,
            None => ConversationHistory::empty(lane),
        };
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

    fn show_help(&mut self) {
        let view = &mut self.model.view;
        view.add_note(Color::Bold, "Keys");
        for (key, what) in KEYS {
            view.add_note(Color::Dim, &format!("  {key:<21} {what}"));
        }
        view.add_note(Color::Bold, "Commands");
        for candidate in command_candidates(&self.setup.custom_commands) {
            view.add_note(Color::Dim, &format!("  {:<21} {}", candidate.text, candidate.about));
        }
    }

    async fn switch_model(&mut self, name: &str) -> anyhow::Result<()> {
        if name.is_empty() {
            let model = &self.setup.settings.model.name;
            let text =
                format!("The model is {model}. /model NAME switches; `windlass models` lists.");
            self.add_note(&text);
            return Ok(());
        }
        let mut args = self.print.agent.clone();
        args.model.model = Some(name.to_owned());
        setup::select_model(&mut self.setup.settings, &args)?;
        if self.active.is_some() {
            let RunSettings { models, thinking, .. } =
                RunSettings::from_settings(&self.setup.settings);
            self.session.set_model(ModelChange { models, thinking }).await?;
        }
        let name = self.setup.settings.model.name.to_string();
        self.add_note(&format!("The model is {name} from here on."));
        self.model.status.model = name;
        Ok(())
    }

    async fn choose_mode(&mut self, name: &str) -> anyhow::Result<()> {
        if name.is_empty() {
            for (mode, about) in MODES {
                self.add_note(&format!("  {:<12} {about}", messages::stored_name(&mode)));
            }
            return Ok(());
        }
        let mode = permission_settings::parse_mode(name)?;
        let current = self.setup.settings.rules.mode;
        if mode == PermissionMode::BypassPermissions && current != mode {
            anyhow::bail!("start with --dangerously-skip-permissions to allow everything");
        }
        self.set_mode(mode).await
    }

    /// Switches to the next mode of Shift-Tab.
    pub(super) async fn next_mode(&mut self) -> anyhow::Result<()> {
        let current = self.setup.settings.rules.mode;
        let at = MODES.iter().position(|(mode, _)| *mode == current);
        let next = at.map_or(0, |at| (at + 1) % MODES.len());
        match MODES.get(next) {
            Some((mode, _)) => self.set_mode(*mode).await,
            None => Ok(()),
        }
    }

    async fn set_mode(&mut self, mode: PermissionMode) -> anyhow::Result<()> {
        mode.validate(windlass::process_rights())?;
        apply_mode(&mut self.setup.settings, mode);
        if self.active.is_some() {
            self.session.set_permission_mode(mode).await?;
        }
        self.model.status.mode = messages::stored_name(&mode).to_string();
        let about = MODES.iter().find(|(known, _)| *known == mode).map(|(_, about)| *about);
        self.model.hint = about.map(str::to_owned);
        Ok(())
    }

    /// Takes over a mode that the log has changed, for example by the approval of a plan.
    pub(super) fn sync_mode(&mut self) {
        let shown = &self.model.status.mode;
        if *messages::stored_name(&self.setup.settings.rules.mode) != **shown
            && let Ok(mode) = permission_settings::parse_mode(shown)
        {
            apply_mode(&mut self.setup.settings, mode);
        }
    }

    fn show_permissions(&mut self) {
        let rules = &self.setup.settings.rules;
        let mode = format!("Mode: {}", messages::stored_name(&rules.mode));
        let list = |rules: &[windlass::core::permission::PermissionRule]| {
            let texts: Vec<String> = rules.iter().map(ToString::to_string).collect();
            if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
        };
        let lines = [
            mode,
            format!("Allowed: {}", list(&rules.allow)),
            format!("Denied: {}", list(&rules.deny)),
            format!("Asked about: {}", list(&rules.ask)),
        ];
        lines.iter().for_each(|line| self.add_note(line));
    }

    async fn clear_conversation(&mut self) -> anyhow::Result<()> {
        self.check_idle("/clear")?;
        let new = self.session.sibling(format!("{LANE_PREFIX}{}", setup::new_id()));
        self.switch_session(new, false).await?;
        if !self.print.session.no_session_persistence {
            let (store, args) = (self.setup.store.as_ref(), &self.print.agent.store);
            let lane = self.session.lane();
            record_cleared_conversation(lane, store, args, &self.setup.workspace).await?;
        }
        self.model.view.add_note(Color::Bold, "A new conversation begins.");
        Ok(())
    }

    async fn fork_conversation(&mut self) -> anyhow::Result<()> {
        self.check_idle("/fork")?;
        if !self.has_begun {
            anyhow::bail!("there is nothing to copy yet; send a prompt first");
        }
        let copy = self.session.fork(None).await?;
        self.switch_session(copy, true).await?;
        self.add_note("You are in a copy of the conversation; the original is kept as it was.");
        Ok(())
    }

    fn check_idle(&self, command: &str) -> anyhow::Result<()> {
        if self.active.is_some() {
            anyhow::bail!("{command} needs an idle session; interrupt the run with Esc first");
        }
        Ok(())
    }

    async fn switch_session(
        &mut self,
        new: windlass::Session,
        has_begun: bool,
    ) -> anyhow::Result<()> {
        self.save_draft();
        let options = windlass::StreamOptions { reply_events: true, call_progress: true };
        let old = std::mem::replace(&mut self.session, new.with_stream_options(options));
        old.close(SessionEndReason::Clear).await;
        self.has_begun = has_begun;
        self.transcript = None;
        if !has_begun {
            let status = &mut self.model.status;
            (status.context_percent, status.usd_micros, status.tokens) = (None, 0, 0);
        }
        Ok(())
    }
}
