//! Commands that change which conversation the session shows: clear, fork, resume.

use windlass::core::log::ids::LaneId;
use windlass::ports::SessionEndReason;
use windlass::{Session, StreamOptions};

use super::background_commands::BackgroundWatch;
use super::conversation_list;
use super::opening;
use super::picker::Picker;
use super::session_files;
use super::session_loop::{SessionLoop, SessionRole};
use crate::commands::newest_conversation::record_cleared_conversation;
use crate::inspect::id_lookup::{self, LANE_PREFIX};
use crate::messages;
use crate::setup;
use crate::terminal::Color;

impl SessionLoop {
    pub(super) async fn clear_conversation(&mut self) -> anyhow::Result<()> {
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

    pub(super) async fn fork_conversation(&mut self) -> anyhow::Result<()> {
        self.check_idle("/fork")?;
        if !self.has_begun {
            anyhow::bail!("there is nothing to copy yet; send a prompt first");
        }
        let copy = self.session.fork(None).await?;
        self.switch_session(copy, true).await?;
        self.add_note("You are in a copy of the conversation; the original is kept as it was.");
        Ok(())
    }

    /// Opens another conversation, or lists those to choose from.
    pub(super) async fn resume_conversation(&mut self, id: &str) -> anyhow::Result<()> {
        self.check_idle("/resume")?;
        let store = self.setup.store.as_ref();
        if !id.is_empty() {
            let found = id_lookup::find_target(store, Some(id), &self.setup.workspace).await?;
            return self.open_conversation(found.lane).await;
        }
        let here = self.session.lane().clone();
        let mut items = conversation_list::list_conversations(store, &self.setup.workspace).await?;
        items.retain(|item| item.choice != super::picker::PickerChoice::Conversation(here.clone()));
        if items.is_empty() {
            anyhow::bail!("there is no other conversation yet");
        }
        self.model.picker = Some(Picker::new("Open which conversation?", items));
        Ok(())
    }

    /// Shows another conversation in the place of this one, and continues its run.
    pub(super) async fn open_conversation(&mut self, lane: LaneId) -> anyhow::Result<()> {
        self.check_idle("/resume")?;
        let store = self.setup.store.as_ref();
        if let Some(folder) =
            conversation_list::foreign_folder(store, &lane, &self.setup.workspace).await?
        {
            let word = messages::option_word("--resume", &lane);
            anyhow::bail!(
                "that conversation works in {folder}; open it there: cd {folder} && windlass {word}"
            );
        }
        let other = self.session.sibling(lane);
        self.switch_session(other, true).await?;
        opening::show_history(&mut self.model, &self.session, &self.setup).await?;
        if let Some(draft) = self.draft_file().and_then(|file| session_files::read_draft(&file)) {
            self.model.restore(&draft);
        }
        self.continue_conversation().await
    }

    pub(super) fn check_idle(&self, command: &str) -> anyhow::Result<()> {
        if self.role == SessionRole::Attached {
            anyhow::bail!("{command} is not possible here; open the conversation with --resume");
        }
        if self.active.is_some() {
            anyhow::bail!("{command} needs an idle session; interrupt the run with Esc first");
        }
        Ok(())
    }

    pub(super) async fn switch_session(
        &mut self,
        new: Session,
        has_begun: bool,
    ) -> anyhow::Result<()> {
        self.save_draft();
        if let Some(ended) = self.end_background_commands() {
            self.add_note(&ended);
        }
        let options =
            StreamOptions { reply_events: true, call_progress: true, ..StreamOptions::default() };
        let old = std::mem::replace(&mut self.session, new.with_stream_options(options));
        old.close(SessionEndReason::Clear).await;
        self.background = BackgroundWatch::start(&self.setup.workplace, self.session.lane());
        self.has_begun = has_begun;
        self.transcript = None;
        self.background_agents = None;
        self.model.status.background_agents = 0;
        if !has_begun {
            let status = &mut self.model.status;
            (status.context_percent, status.usd_micros, status.tokens) = (None, 0, 0);
        }
        Ok(())
    }
}
