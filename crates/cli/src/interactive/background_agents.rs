//! Sub-agents in the background of a session: while nothing else runs, the session goes on reading the
//! conversation, and the result of a sub-agent starts a run that it follows.

use std::time::Duration;

use tokio::time::Instant;
use windlass::RunOutcome;

use super::active_run::{ActiveRun, RunEvent};
use super::question_panel::QuestionPlace;
use super::session_loop::{SessionLoop, SessionRole};
use crate::inspect::open_questions::find_open_questions;
use crate::terminal::Color;

/// Time between two looks for questions of sub-agents in the background.
const QUESTION_INTERVAL: Duration = Duration::from_secs(1);

impl SessionLoop {
    /// Continues what an earlier process left: a run, prompts that wait, or sub-agents in the
    /// background.
    pub(super) async fn continue_conversation(&mut self) -> anyhow::Result<()> {
        match self.resume_unfinished().await? {
            true => Ok(()),
            false => self.watch_background_agents().await,
        }
    }

    /// Begins to wait for sub-agents in the background, if there are any and nothing else runs.
    pub(super) async fn watch_background_agents(&mut self) -> anyhow::Result<()> {
        if self.role == SessionRole::Attached || self.active.is_some() || !self.has_begun {
            return Ok(());
        }
        let now = self.session.load_conversation().await?;
        let working = now.background_children().count();
        self.model.status.background_agents = working;
        if working == 0 {
            return Ok(());
        }
        let stream = self.session.follow_next_run(now.head).await?;
        let reader = self.message_reader(now);
        self.next_check = Some(Instant::now() + QUESTION_INTERVAL);
        self.background_agents = Some(ActiveRun::new(self.session.clone(), stream, reader));
        Ok(())
    }

    /// Reads on. A run that begins becomes the active one.
    pub(super) async fn on_agent_event(
        &mut self,
        event: anyhow::Result<RunEvent>,
    ) -> anyhow::Result<()> {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                self.background_agents = None;
                let text = format!("Sub-agents in the background cannot be followed: {error:#}");
                self.model.view.add_note(Color::Red, &text);
                self.want_frame();
                return Ok(());
            }
        };
        match &event {
            RunEvent::Messages(_) => {
                let has_run = |run: &mut ActiveRun| run.conversation().run.is_some();
                if let Some(run) = self.background_agents.take_if(has_run) {
                    self.next_check = None;
                    self.active = Some(run);
                    self.model.begin_work();
                }
            }
            RunEvent::Rested(outcome) if matches!(**outcome, RunOutcome::Parked(_)) => {
                return self.sync_agent_questions().await;
            }
            // The run began and ended between two looks.
            RunEvent::Rested(_) | RunEvent::WatchedRunEnded => {
                self.active = self.background_agents.take();
            }
        }
        self.on_run_event(event).await
    }

    /// Shows the questions of sub-agents in the background that are open now, and no others.
    pub(super) async fn sync_agent_questions(&mut self) -> anyhow::Result<()> {
        let lane = self.session.lane().clone();
        let open = find_open_questions(self.setup.store.as_ref(), &lane).await?;
        let is_open = |place: &QuestionPlace| {
            open.iter().any(|open| open.lane == place.lane && open.question.id == place.id)
        };
        self.model.keep_panels(is_open);
        self.show_questions(&open);
        if open.is_empty()
            && let Some(agents) = &mut self.background_agents
        {
            agents.resume().await?;
        }
        self.next_check = Some(Instant::now() + QUESTION_INTERVAL);
        self.want_frame();
        Ok(())
    }
}
