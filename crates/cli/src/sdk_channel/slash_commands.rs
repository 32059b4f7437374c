//! Slash commands in prompts of the program: those built in are answered here, custom ones become
//! prompts.

use windlass::core::context::can_compact_now;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::Settings;
use windlass::messages::{ConversationResetMessage, Message, format_iso_time};
use windlass::ports::{Clock, SessionEndReason};
use windlass::{Session, SystemClock};

use super::channel_loop::Channel;
use super::incoming::UserPrompt;
use crate::commands::local_commands;
use crate::commands::newest_conversation::record_cleared_conversation;
use crate::config::claude::custom_commands::CustomCommand;
use crate::inspect::history::ConversationHistory;
use crate::inspect::id_lookup::LANE_PREFIX;
use crate::messages;
use crate::prompt::session_events;
use crate::prompt::slash_command::{self, LocalCommand, LocalCommandCall, SlashCommand};
use crate::setup;
use crate::setup::session_changes::expand_custom_command;

/// What a prompt means.
pub(super) enum PromptMeaning {
    /// A prompt for the model, as it is.
    Prompt,
    /// A custom command: its prompt, and the settings of its run.
    Custom { text: String, settings: Box<Settings> },
    /// A compaction of the conversation; what its summary must keep, if that was said.
    Compaction(Option<String>),
    /// It was a command, and is done.
    Done,
}

impl Channel {
    /// Handles a prompt that is a command.
    pub(super) async fn handle_slash_command(
        &mut self,
        prompt: &UserPrompt,
    ) -> anyhow::Result<PromptMeaning> {
        let text = prompt.as_text().filter(|text| text.starts_with('/') && !prompt.is_verbatim);
        let Some(text) = text.filter(|_| !self.print.agent.prompt.disable_slash_commands) else {
            return Ok(PromptMeaning::Prompt);
        };
        match slash_command::parse_slash(&text, &self.setup.custom_commands)? {
            None => Ok(PromptMeaning::Prompt),
            Some(SlashCommand::Custom(command, rest)) => self.expand_custom(&command, &rest).await,
            Some(SlashCommand::Local(call)) => self.run_local_command(&call).await,
        }
    }

    /// Makes a prompt of a custom command.
    async fn expand_custom(
        &self,
        command: &CustomCommand,
        rest: &str,
    ) -> anyhow::Result<PromptMeaning> {
        let settings = self.setup.settings.clone();
        let (text, settings) = expand_custom_command((command, rest), settings, &self.print.agent)?;
        let typed = (command.name.as_str(), rest);
        let text = session_events::announce_expansion(&self.session, typed, text).await?;
        Ok(PromptMeaning::Custom { text, settings: Box::new(settings) })
    }

    async fn run_local_command(
        &mut self,
        call: &LocalCommandCall,
    ) -> anyhow::Result<PromptMeaning> {
        if call.name == LocalCommand::Clear {
            self.clear_conversation().await?;
            return Ok(PromptMeaning::Done);
        }
        let lane = self.session.lane().clone();
        let history = match self.setup.store.lane_info(lane.clone()).await? {
            Some(_) => ConversationHistory::load(self.setup.store.as_ref(), lane).await?,
            None => ConversationHistory::empty(lane),
        };
        let text = match call.name {
            LocalCommand::Cancel | LocalCommand::Clear | LocalCommand::Help => {
                messages::local_command::command_list(&self.setup.custom_commands)
            }
            LocalCommand::Cost => messages::local_command::conversation_cost(&history),
            LocalCommand::Context => {
                local_commands::context_report(&history, &call.arguments).await?
            }
            LocalCommand::Compact if can_compact_now(&history.conversation) => {
                let kept = call.arguments.trim();
                let kept = (!kept.is_empty()).then(|| kept.to_owned());
                return Ok(PromptMeaning::Compaction(kept));
            }
            LocalCommand::Compact => messages::action::NOTHING_TO_COMPACT.to_owned(),
        };
        self.write_local_answer(call.name, &text, history.conversation).await?;
        Ok(PromptMeaning::Done)
    }

    /// Writes the answer of a command that needs no model.
    async fn write_local_answer(
        &mut self,
        name: LocalCommand,
        text: &str,
        now: Conversation,
    ) -> anyhow::Result<()> {
        let mut reader = self.message_reader(now);
        let projection = reader.projection();
        let init = projection.init_message(self.init_info());
        let answer = projection.synthetic_text(text, format_iso_time(SystemClock::start().now()));
        let result = projection.local_result(name.as_str(), text);
        self.write_all(&[init, answer]).await?;
        self.write_result(result).await
    }

    /// Starts a new conversation in the place of this one, which is kept.
    async fn clear_conversation(&mut self) -> anyhow::Result<()> {
        let new = format!("{LANE_PREFIX}{}", setup::new_id());
        let new = self.session.sibling(new);
        let old = std::mem::replace(&mut self.session, new);
        self.note_cleared().await?;
        old.close(SessionEndReason::Clear).await;
        self.write_reset(&old).await?;
        let mut reader = self.message_reader(Conversation::default());
        let init = reader.projection().init_message(self.init_info());
        let result = reader.projection().local_result(LocalCommand::Clear.as_str(), "");
        self.write_all(&[init]).await?;
        self.write_result(result).await
    }

    /// Makes `--continue` use the new conversation.
    async fn note_cleared(&self) -> anyhow::Result<()> {
        if self.print.session.no_session_persistence {
            return Ok(());
        }
        let store = (self.setup.store.as_ref(), &self.print.agent.store);
        record_cleared_conversation(self.session.lane(), store.0, store.1, &self.setup.workspace)
            .await
    }

    async fn write_reset(&self, old: &Session) -> anyhow::Result<()> {
        let reset = Message::ConversationReset(ConversationResetMessage {
            new_conversation_id: self.session.lane().session_id().to_owned(),
            session_id: old.lane().session_id().to_owned(),
            uuid: setup::new_id(),
        });
        Ok(self.writer.send(&reset).await?)
    }
}
