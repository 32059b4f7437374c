//! The run that the session follows: its stream, and the reader that makes messages of it.

use windlass::core::log::ids::RunId;
use windlass::core::run::conversation::Conversation;
use windlass::messages::{Message, MessageReader};
use windlass::{RunOutcome, RunStream, Session};

/// A run in progress, or one that waits for an answer.
pub(super) struct ActiveRun {
    session: Session,
    stream: Option<RunStream>,
    reader: MessageReader,
}

/// What happened in a run.
pub(super) enum RunEvent {
    /// Messages, in order.
    Messages(Vec<Message>),
    /// The run ended, or waits for an answer.
    Rested(Box<RunOutcome>),
}

impl ActiveRun {
    pub(super) fn new(session: Session, stream: RunStream, reader: MessageReader) -> Self {
        Self { session, stream: Some(stream), reader }
    }

    /// The run, once it is known.
    pub(super) fn run(&self) -> Option<RunId> {
        let active = self.reader.conversation().run.as_ref().map(|run| run.id.clone());
        active.or_else(|| self.stream.as_ref().and_then(|stream| stream.run().cloned()))
    }

    /// The conversation as far as it was shown.
    pub(super) fn conversation(&self) -> &Conversation {
        self.reader.conversation()
    }

    /// Whether the run waits for an answer, and nothing drives it.
    pub(super) fn is_parked(&self) -> bool {
        self.stream.is_none()
    }

    /// Continues a run that waited.
    pub(super) async fn resume(&mut self) -> anyhow::Result<()> {
        if self.stream.is_none() {
            self.stream = Some(self.session.resume().await?);
        }
        Ok(())
    }

    /// Waits for what happens next. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> anyhow::Result<RunEvent> {
        let Some(stream) = &mut self.stream else {
            return Ok(RunEvent::Messages(self.reader.next_of_sub_agents().await?));
        };
        let item = tokio::select! {
            biased;
            item = stream.next() => item?,
            messages = self.reader.next_of_sub_agents() => {
                return Ok(RunEvent::Messages(messages?));
            }
        };
        match item {
            Some(item) => Ok(RunEvent::Messages(self.reader.read(&item).await?)),
            None => match self.stream.take() {
                Some(stream) => Ok(RunEvent::Rested(Box::new(stream.wait_for_end().await?))),
                None => Ok(RunEvent::Rested(Box::new(RunOutcome::HandedOver))),
            },
        }
    }
}
