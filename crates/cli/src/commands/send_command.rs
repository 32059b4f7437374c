//! Sends a command to a conversation. The process that drives the conversation reads the command;
//! if there is none, this process drives it, unless `--detach` was given.

use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use windlass::core::log::ids::{LaneId, QuestionId};
use windlass::core::log::inbox::InboxCommand;
use windlass::core::run::child_runs::root_lane;
use windlass::ports::{OutboxMessage, Store};
use windlass_runtime::worker_identity;

use crate::args::{AgentArgs, OutputArgs};
use crate::output::SignalListener;
use crate::setup::{self, ModelNeed, OpenConversation};
use crate::{messages, output, terminal};

/// What happens after the command is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterSend {
    /// This process drives the conversation if no other process does.
    Drive,
    /// The next worker drives the conversation.
    Detach,
}

impl AfterSend {
    pub(crate) fn from_detach_flag(detach: bool) -> Self {
        if detach { Self::Detach } else { Self::Drive }
    }
}

/// A command to a conversation, ready to be sent.
pub(crate) struct PendingCommand {
    pub(crate) lane: LaneId,
    pub(crate) command: Option<InboxCommand>,
    /// The report that is printed if another process drives the conversation.
    pub(crate) report: SentReport,
    pub(crate) model_need: ModelNeed,
}

/// A report about a command that another process will handle.
#[derive(Serialize)]
pub(crate) struct SentReport {
    conversation: LaneId,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<QuestionId>,
    message: String,
}

impl SentReport {
    /// A report about a conversation, with its message.
    pub(crate) fn new(conversation: &LaneId, message: String) -> Self {
        Self { conversation: conversation.clone(), question: None, message }
    }

    /// A report about the answer to a question.
    pub(crate) fn answer(conversation: &LaneId, question: QuestionId) -> Self {
        let left = messages::action::answer_sent(conversation, question);
        Self { question: Some(question), ..Self::new(conversation, left) }
    }

    /// The report if a process drives the conversation at this moment.
    fn for_driven_run(self) -> Self {
        match self.question {
            Some(question) => Self {
                message: messages::action::answer_delivered(&self.conversation, question),
                ..self
            },
            None => self,
        }
    }

    /// Prints the report.
    pub(crate) fn print(&self, output: &OutputArgs) -> anyhow::Result<()> {
        match output.is_for_programs() {
            true => terminal::print_line(&serde_json::to_string(self)?),
            false => terminal::print_line(&self.message),
        }
        Ok(())
    }
}

impl PendingCommand {
    /// Sends the command and drives the conversation, unless another process does.
    pub(crate) async fn send(
        self,
        store: Arc<dyn Store>,
        agent: &AgentArgs,
        then: AfterSend,
    ) -> anyhow::Result<ExitCode> {
        let is_driven = self.has_live_owner(store.as_ref()).await?;
        if is_driven || then == AfterSend::Detach {
            self.enqueue(store.as_ref()).await?;
            let report = if is_driven { self.report.for_driven_run() } else { self.report };
            report.print(&agent.output)?;
            return Ok(ExitCode::SUCCESS);
        }
        // A conversation that cannot be driven is reported before anything is sent.
        let lane = self.lane_to_drive(store.as_ref()).await?;
        let opened = OpenConversation { store: Arc::clone(&store), lane: lane.clone() };
        let setup = setup::start_for_conversation(Some(opened), agent, self.model_need).await?;
        let signals = SignalListener::new()?;
        self.enqueue(store.as_ref()).await?;
        let session = setup.windlass.session(lane);
        let before = session.load_conversation().await?;
        let run = session.resume().await?;
        output::follow_resumed_run(run, &before, (&session, &setup), agent, signals).await
    }

    /// The conversation to drive: what a person tells a sub-agent is for the conversation that
    /// waits for it, and driving that one drives the sub-agent too. A command that ends a run needs
    /// no model, and nothing else is driven without one.
    async fn lane_to_drive(&self, store: &dyn Store) -> anyhow::Result<LaneId> {
        let root = root_lane(&self.lane);
        let is_active =
            store.lane_info(root.clone()).await?.is_some_and(|it| it.active_run.is_some());
        let drives_root = is_active && self.model_need == ModelNeed::Required;
        Ok(if drives_root { root } else { self.lane.clone() })
    }

    /// Returns whether a process of this machine owns the conversation and will read the command.
    /// An owner on another machine may be dead: that is found out when the conversation is claimed.
    async fn has_live_owner(&self, store: &dyn Store) -> anyhow::Result<bool> {
        let owner = store.lane_info(self.lane.clone()).await?.and_then(|lane| lane.owner);
        Ok(self.command.is_some()
            && owner.is_some_and(|owner| worker_identity::is_process_running(&owner)))
    }

    async fn enqueue(&self, store: &dyn Store) -> anyhow::Result<()> {
        if let Some(body) = self.command.clone() {
            let message = OutboxMessage { idempotency_key: Arc::from(setup::new_id()), body };
            store.enqueue_message(self.lane.clone(), message).await?;
        }
        Ok(())
    }
}
