//! Sub-agents in the background, for the tools that show and end them.

use std::sync::{Arc, OnceLock, Weak};

use windlass_core::log::ids::LaneId;
use windlass_core::message::prompt_texts::background_agent_id;
use windlass_core::run::child_runs::child_lane;
use windlass_core::run::conversation::Conversation;
use windlass_runtime::ports::BoxFuture;
use windlass_runtime::{LaneHost, Session};
use windlass_tools::{BackgroundAgentState, BackgroundAgents};

/// Connects the tools of an instance with its sub-agents in the background: give it to
/// [`ToolContext::with_background_agents`](crate::tools::ToolContext::with_background_agents) and to
/// [`WindlassBuilder::agent_tasks`](crate::WindlassBuilder::agent_tasks). Clones are the same.
#[derive(Clone, Default)]
pub struct AgentTasks {
    host: Arc<OnceLock<Weak<LaneHost>>>,
}

impl AgentTasks {
    /// Connects the running instance.
    pub(crate) fn connect(&self, host: &Arc<LaneHost>) {
        // The first instance counts.
        let _ = self.host.set(Arc::downgrade(host));
    }

    /// The conversation of a sub-agent that works for `parent`.
    async fn find(&self, parent: &LaneId, id: &str) -> Option<Session> {
        let host = self.host.get()?.upgrade()?;
        let session = host.session(parent.clone());
        let now = session.load_conversation().await.ok()?;
        let mut working = now.background_children();
        let child = working.find(|child| background_agent_id(child.call) == id)?;
        let lane = child_lane(parent, child.call, child.part);
        Some(session.sibling(lane))
    }
}

impl BackgroundAgents for AgentTasks {
    fn inspect<'a>(
        &'a self,
        parent: &'a LaneId,
        id: &'a str,
    ) -> BoxFuture<'a, Option<BackgroundAgentState>> {
        Box::pin(async move {
            let child = self.find(parent, id).await?;
            let now = child.load_conversation().await.ok()?;
            Some(describe(&now))
        })
    }

    fn stop<'a>(&'a self, parent: &'a LaneId, id: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            match self.find(parent, id).await {
                Some(child) => child.abort(None).await.is_ok(),
                None => false,
            }
        })
    }
}

/// Describes what a sub-agent has done so far.
fn describe(now: &Conversation) -> BackgroundAgentState {
    let Some(run) = &now.run else {
        let text = match now.last_run_end.is_some() {
            true => "[ended; its answer comes as a message]",
            false => "[not started yet]",
        };
        return BackgroundAgentState {
            is_running: now.last_run_end.is_none(),
            text: text.to_owned(),
        };
    };
    let state = match run.open_questions().next() {
        Some(_) => "waiting for a person",
        None => "running",
    };
    let rounds = run.counters.tool_rounds;
    let text = run.answer_parts.concat();
    let said = if text.trim().is_empty() { "(no text yet)" } else { text.trim() };
    let text = format!("[{state}, {rounds} rounds of tool calls]\n{said}");
    BackgroundAgentState { is_running: true, text }
}
