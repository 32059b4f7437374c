//! A session of an editor: its settings, modes, models and commands.

use std::path::Path;

use windlass::core::permission::PermissionMode;
use windlass::ports::BoxFuture;
use windlass::{ConversationClient, Session, Settings};
use windlass_acp::{CommandChoice, HostError, HostedSession, ModelChoice, PromptMeaning};

use crate::args::AgentArgs;
use crate::commands::local_commands;
use crate::config::permission_mode::apply_mode;
use crate::inspect::history::ConversationHistory;
use crate::messages;
use crate::prompt::prompt_content;
use crate::prompt::slash_command::{self, LocalCommand, LocalCommandCall, SlashCommand};
use crate::setup::RunSetup;
use crate::setup::session_changes::{self, MODEL_CHOICES, check_mode, expand_custom_command};

/// The modes that an editor offers.
const OFFERED_MODES: [PermissionMode; 4] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::BypassPermissions,
];

/// A session with the settings of this machine.
pub(super) struct CliSession {
    args: AgentArgs,
    setup: RunSetup,
    session: Session,
    initial_settings: Settings,
    notes: Vec<String>,
}

impl CliSession {
    pub(super) fn new(
        args: AgentArgs,
        setup: RunSetup,
        session: Session,
        missing_servers: &[&str],
    ) -> Self {
        print_hook_messages(&setup);
        let initial_settings = setup.settings.clone();
        let mut notes = Vec::new();
        if let Some(ignored) = &setup.ignored_settings {
            notes.push(ignored.message.clone());
        }
        if !missing_servers.is_empty() {
            notes.push(messages::mcp_servers_not_connected(missing_servers));
        }
        Self { args, setup, session, initial_settings, notes }
    }

    async fn find_meaning(&self, text: &str) -> anyhow::Result<PromptMeaning> {
        let is_off = self.args.prompt.disable_slash_commands;
        let command = match is_off {
            true => None,
            false => slash_command::parse_slash(text, &self.setup.custom_commands)?,
        };
        match command {
            None => self.to_prompt(text, self.setup.settings.clone()).await,
            Some(SlashCommand::Custom(command, rest)) => {
                let settings = self.setup.settings.clone();
                let (text, settings) =
                    expand_custom_command((&command, &rest), settings, &self.args)?;
                self.to_prompt(&text, settings).await
            }
            Some(SlashCommand::Local(call)) => {
                Ok(PromptMeaning::Answer(self.answer_command(&call).await?))
            }
        }
    }

    async fn to_prompt(&self, text: &str, settings: Settings) -> anyhow::Result<PromptMeaning> {
        let blocks = prompt_content::build(text, &self.setup, self.session.lane()).await?;
        Ok(PromptMeaning::Prompt { blocks, settings: Box::new(settings) })
    }

    async fn answer_command(&self, call: &LocalCommandCall) -> anyhow::Result<String> {
        let lane = self.session.lane().clone();
        let history = match self.setup.store.lane_info(lane.clone()).await? {
            Some(_) => ConversationHistory::load(self.setup.store.as_ref(), lane).await?,
            None => ConversationHistory::empty(lane),
        };
        match call.name {
            LocalCommand::Clear => Ok(messages::CLEAR_IN_EDITOR.to_owned()),
            LocalCommand::Cancel => Ok(messages::CANCEL_IN_EDITOR.to_owned()),
            LocalCommand::Help => {
                Ok(messages::local_command::command_list(&self.setup.custom_commands))
            }
            LocalCommand::Cost => Ok(messages::local_command::conversation_cost(&history)),
            LocalCommand::Context => {
                local_commands::context_report(&history, &call.arguments).await
            }
            LocalCommand::Compact => {
                local_commands::request_compaction_if_useful(&history, &self.setup, &call.arguments)
                    .await
            }
        }
    }

    fn may_be_chosen(&self, mode: PermissionMode) -> bool {
        check_mode(mode, &self.args, &self.initial_settings).is_ok()
    }
}

impl HostedSession for CliSession {
    fn client(&self) -> ConversationClient {
        let (windlass, session) = (self.setup.windlass.clone(), self.session.clone());
        ConversationClient::for_session(windlass, session, self.setup.settings.clone())
    }

    fn settings(&self) -> &Settings {
        &self.setup.settings
    }

    fn workspace(&self) -> &Path {
        &self.setup.workspace
    }

    fn modes(&self) -> Vec<PermissionMode> {
        let current = self.setup.settings.rules.mode;
        let mut modes: Vec<_> =
            OFFERED_MODES.into_iter().filter(|mode| self.may_be_chosen(*mode)).collect();
        if !modes.contains(&current) {
            modes.push(current);
        }
        modes
    }

    fn set_mode(&mut self, mode: PermissionMode) -> Result<(), HostError> {
        check_mode(mode, &self.args, &self.initial_settings).map_err(HostError::Invalid)?;
        apply_mode(&mut self.setup.settings, mode);
        Ok(())
    }

    fn models(&self) -> Vec<ModelChoice> {
        let choice = |(id, name, description): &(&str, &str, &str)| ModelChoice {
            id: (*id).to_owned(),
            name: (*name).to_owned(),
            description: Some((*description).to_owned()),
        };
        MODEL_CHOICES.iter().map(choice).collect()
    }

    fn set_model(&mut self, name: &str) -> Result<(), HostError> {
        let changed = session_changes::set_model(
            &mut self.setup.settings,
            &self.initial_settings,
            (Some(name), &self.args),
        );
        changed.map_err(|error| HostError::Invalid(format!("{error:#}")))
    }

    fn commands(&self) -> Vec<CommandChoice> {
        let own = LocalCommand::ALL.into_iter();
        let own = own.filter(|name| !matches!(name, LocalCommand::Clear | LocalCommand::Cancel));
        let own = own.map(|command| CommandChoice {
            name: command.as_str().to_owned(),
            description: command.description().to_owned(),
            hint: None,
        });
        let custom = self.setup.custom_commands.iter().map(|command| {
            let page = command.read_page().ok();
            let (description, hint) =
                page.map(|page| (page.description, page.argument_hint)).unwrap_or_default();
            CommandChoice { name: command.name.clone(), description, hint }
        });
        let all = own.chain(custom);
        if self.args.prompt.disable_slash_commands { Vec::new() } else { all.collect() }
    }

    fn read_prompt(&self, text: String) -> BoxFuture<'_, Result<PromptMeaning, HostError>> {
        Box::pin(async move {
            let meaning = self.find_meaning(&text).await;
            meaning.map_err(|error| HostError::Invalid(format!("{error:#}")))
        })
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// Lets hooks speak on standard error, which editors keep as the log of the agent.
fn print_hook_messages(setup: &RunSetup) {
    let waiting = std::sync::Arc::clone(&setup.hook_messages);
    tokio::spawn(async move {
        loop {
            crate::terminal::print_note(&messages::hook_message(&waiting.next().await));
        }
    });
}
