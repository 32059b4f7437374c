//! What a person sends to a conversation, and who goes on with it then: whoever drives it already,
//! else this process, unless the person does not want to wait.

use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use windlass::core::ids::{LaneId, QuestionId};
use windlass::core::mail::MailBody;
use windlass::ports::{Letter, Store};
use windlass_runtime::identity;

use crate::args::{AgentArgs, OutputArgs};
use crate::look::acts;
use crate::setup::{self, Asks, Opened};
use crate::show;

/// What happens after the mail is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// This process goes on with the conversation if nobody else does.
    GoOn,
    /// Whoever drives it next does.
    Leave,
}

impl Then {
    pub(crate) fn of(detach: bool) -> Self {
        if detach { Self::Leave } else { Self::GoOn }
    }
}

/// A conversation to go on with.
pub(crate) struct Sending {
    pub(crate) lane: LaneId,
    pub(crate) mail: Option<MailBody>,
    /// What is said if somebody else goes on.
    pub(crate) left: Left,
    pub(crate) asks: Asks,
}

/// What somebody else goes on with.
#[derive(Serialize)]
pub(crate) struct Left {
    conversation: LaneId,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<QuestionId>,
    left: String,
}

impl Left {
    /// A conversation, and what is said of it.
    pub(crate) fn new(conversation: &LaneId, left: String) -> Self {
        Self { conversation: conversation.clone(), question: None, left }
    }

    /// The answer to a question.
    pub(crate) fn answer(conversation: &LaneId, question: QuestionId) -> Self {
        let left = acts::answered(conversation, question);
        Self { question: Some(question), ..Self::new(conversation, left) }
    }

    /// Says so.
    pub(crate) fn say(&self, output: &OutputArgs) -> anyhow::Result<()> {
        match output.is_for_programs() {
            true => show::line(&serde_json::to_string(self)?),
            false => show::line(&self.left),
        }
        Ok(())
    }
}

impl Sending {
    /// Sends the mail and goes on.
    pub(crate) async fn send(
        self,
        store: Arc<dyn Store>,
        agent: &AgentArgs,
        then: Then,
    ) -> anyhow::Result<ExitCode> {
        if then == Then::Leave || self.finds_a_reader(store.as_ref()).await? {
            self.deliver(store.as_ref()).await?;
            self.left.say(&agent.output)?;
            return Ok(ExitCode::SUCCESS);
        }
        // What cannot be driven is told before anything is sent.
        let opened = Opened { store: Arc::clone(&store), lane: self.lane.clone() };
        let setup = setup::start_on(Some(opened), agent, self.asks).await?;
        self.deliver(store.as_ref()).await?;
        let session = setup.windlass.session(self.lane);
        let before = session.conversation().await?;
        let run = session.resume().await?;
        show::watch_from(run, &before, (&session, &setup), agent).await
    }

    /// Whether a process of this machine has the conversation and will read the mail. One that is
    /// somewhere else may be dead: that shows when the conversation is claimed.
    async fn finds_a_reader(&self, store: &dyn Store) -> anyhow::Result<bool> {
        let owner = store.lane(self.lane.clone()).await?.and_then(|lane| lane.owner);
        Ok(self.mail.is_some() && owner.is_some_and(|owner| identity::exists(&owner)))
    }

    async fn deliver(&self, store: &dyn Store) -> anyhow::Result<()> {
        if let Some(body) = self.mail.clone() {
            let letter = Letter { key: Arc::from(setup::new_id()), body };
            store.deliver(self.lane.clone(), letter).await?;
        }
        Ok(())
    }
}
