//! `windlass attach`: a session that watches what other processes do in a conversation. It answers,
//! steers and queues prompts, and drives nothing itself.

use windlass::core::message::content_block::ContentBlock;

use super::active_run::ActiveRun;
use super::session_loop::SessionLoop;
use crate::inspect::open_questions::find_open_questions;
use crate::inspect::run_activity::RunActivity;
use crate::messages;
use crate::terminal::Color;

impl SessionLoop {
    /// Begins to watch the conversation.
    pub(super) async fn watch(&mut self) -> anyhow::Result<()> {
        let now = self.session.load_conversation().await?;
        let run = now.run.as_ref().map(|run| run.id.clone());
        let reader = self.message_reader(now);
        self.active = Some(ActiveRun::watch(self.session.clone(), reader));
        self.update_status();
        let Some(run) = run else {
            self.add_note("Nothing runs now; what comes is shown here. Ctrl-D leaves.");
            return Ok(());
        };
        self.model.begin_work();
        let store = self.setup.store.as_ref();
        let activity = RunActivity::read_of(store, self.session.lane(), &run).await?;
        if activity.driven == Some(false) {
            let word = messages::option_word("--resume", self.session.lane());
            let text = format!("No process drives this run; windlass {word} continues it there.");
            self.model.view.add_note(Color::Yellow, &text);
        }
        self.sync_watched_questions().await
    }

    /// Shows the questions that are open, those of sub-agents included.
    pub(super) async fn sync_watched_questions(&mut self) -> anyhow::Result<()> {
        self.sync_own_panels();
        let lane = self.session.lane().clone();
        let open = find_open_questions(self.setup.store.as_ref(), &lane).await?;
        self.show_questions(&open);
        Ok(())
    }

    /// Leaves a prompt to the process that drives the conversation, or to a worker.
    pub(super) async fn leave_prompt(&mut self, blocks: Vec<ContentBlock>) -> anyhow::Result<()> {
        self.session.enqueue_with(blocks, None).await?;
        self.model.context.clear();
        self.save_draft();
        self.add_note("The prompt waits for the process of this conversation, or for a worker.");
        Ok(())
    }

    /// A run of another process ended; the next one is watched, too.
    pub(super) async fn on_watched_run_ended(&mut self) -> anyhow::Result<()> {
        self.update_status();
        self.answered.clear();
        self.model.end_work();
        let lane = self.session.lane().clone();
        let runs = self.setup.store.list_runs(Some(lane), 1).await?;
        let cause = runs.first().and_then(|run| run.cause);
        if let Some(cause) = cause.filter(|cause| *cause != windlass::StopCause::EndTurn) {
            let text = format!("The run ended: {}.", messages::stop_reason(cause));
            self.model.view.add_note(Color::Yellow, &text);
        }
        Ok(())
    }
}
