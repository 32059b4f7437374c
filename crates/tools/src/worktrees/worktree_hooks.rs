//! Hooks of an isolated sub-agent: its worktree is made before it starts, its changes are committed with
//! its answer, and the worktree is removed when its run has ended.

use std::sync::Arc;

use windlass_core::log::ids::LaneId;
use windlass_core::run::child_runs::sub_agent_id;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::settings::conversation_settings::{HookPoints, HookPresence};
use windlass_runtime::ports::{
    BoxFuture, HookContext, HookMessage, HookMessageLevel, Hooks, RunMoment, SessionEvent,
};

use super::GitWorktrees;

/// Keeps the worktrees of an agent's sub-agents.
pub struct WorktreeHooks {
    worktrees: GitWorktrees,
    /// The hooks that learn of worktrees.
    observers: Arc<dyn Hooks>,
}

impl WorktreeHooks {
    /// Returns the hooks of an agent whose sub-agents work in these worktrees; `observers` learn of each
    /// worktree, and can object to one that was made.
    #[must_use]
    pub fn new(worktrees: GitWorktrees, observers: Arc<dyn Hooks>) -> Self {
        Self { worktrees, observers }
    }

    /// Whether the run works in a worktree that was made for it: a child of a sub-agent works in that of
    /// its parent.
    fn has_own_worktree(&self, context: &HookContext) -> bool {
        let Some(settings) = &context.conversation.settings else { return false };
        let own = self.worktrees.places().workspace_of(&context.lane);
        context.parent().is_some() && *settings.rules.root == *own.to_string_lossy()
    }

    async fn start(&self, lane: &LaneId) -> ReviewResult {
        match self.worktrees.create(lane).await {
            Ok(()) => {
                let name = Arc::from(sub_agent_id(lane));
                let event = SessionEvent::WorktreeCreated { name, path: self.path_of(lane) };
                match self.observers.on_session_event(lane.clone(), event).await {
                    ReviewResult::Block { reason } | ReviewResult::Stop { reason } => {
                        ReviewResult::Stop { reason }
                    }
                    result => result,
                }
            }
            Err(reason) => ReviewResult::Stop { reason: Arc::from(reason) },
        }
    }

    fn path_of(&self, lane: &LaneId) -> Arc<str> {
        Arc::from(self.worktrees.places().workspace_of(lane).to_string_lossy())
    }

    /// Tells the user that a worktree stays as it is.
    fn report(&self, context: &HookContext, ended: Result<(), String>) {
        if let Err(error) = ended {
            let checkout = self.worktrees.places().checkout_of(&context.lane);
            let text = format!("The worktree {} stays: {error}", checkout.display());
            context.tell_user(HookMessage::new("Worktree", HookMessageLevel::Warning, &text));
        }
    }
}

impl Hooks for WorktreeHooks {
    fn points(&self) -> HookPoints {
        let present = HookPresence::Present;
        HookPoints { prompt: present, answer: present, ..HookPoints::default() }
    }

    fn on_start(&self, context: HookContext) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            match self.has_own_worktree(&context) {
                true => self.start(&context.lane).await,
                false => ReviewResult::Pass { context: None },
            }
        })
    }

    fn review(&self, context: HookContext, about: Review) -> BoxFuture<'_, ReviewResult> {
        Box::pin(async move {
            if matches!(about, Review::Answer { .. }) && self.has_own_worktree(&context) {
                // The parent may look at the branch as soon as it has the answer.
                let committed = self.worktrees.commit(&context.lane).await;
                self.report(&context, committed);
            }
            ReviewResult::Pass { context: None }
        })
    }

    fn wants_moments(&self) -> bool {
        true
    }

    fn on_moment(&self, context: HookContext, moment: RunMoment) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if matches!(moment, RunMoment::RunEnded { .. }) && self.has_own_worktree(&context) {
                let event = SessionEvent::WorktreeRemoved { path: self.path_of(&context.lane) };
                drop(self.observers.on_session_event(context.lane.clone(), event).await);
                let finished = self.worktrees.finish(&context.lane).await;
                self.report(&context, finished);
            }
        })
    }
}
