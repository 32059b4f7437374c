//! The run that the session follows: its stream, and the reader that makes messages of it.

use windlass::core::log::ids::RunId;
use windlass::core::run::conversation::Conversation;
use windlass::messages::{Message, MessageReader};
use windlass::{RunOutcome, RunStream, Session, Subscription};

/// A run in progress, or one that waits for an answer.
pub(super) struct ActiveRun {
    session: Session,
    feed: RunFeed,
    reader: MessageReader,
    /// Whether the run that is watched has ended, which is not told yet.
    is_over: bool,
}

/// Where the items of the run come from.
enum RunFeed {
    /// This process drives the run, or follows the one that does.
    Stream(Box<RunStream>),
    /// The run waits for an answer, and nothing drives it.
    Parked,
    /// Other processes drive the conversation, now and later.
    Watched(Box<Subscription>),
}

/// What happened in a run.
pub(super) enum RunEvent {
    /// Messages, in order.
    Messages(Vec<Message>),
    /// The run ended, or waits for an answer.
    Rested(Box<RunOutcome>),
    /// A run of another process ended.
    WatchedRunEnded,
}

impl ActiveRun {
    pub(super) fn new(session: Session, stream: RunStream, reader: MessageReader) -> Self {
        Self { session, feed: RunFeed::Stream(Box::new(stream)), reader, is_over: false }
    }

    /// Watches what other processes do in the conversation.
    pub(super) fn watch(session: Session, reader: MessageReader) -> Self {
        let feed = RunFeed::Watched(Box::new(session.subscribe(reader.conversation().head)));
        Self { session, feed, reader, is_over: false }
    }

    /// The run, once it is known.
    pub(super) fn run(&self) -> Option<RunId> {
        let active = self.reader.conversation().run.as_ref().map(|run| run.id.clone());
        active.or_else(|| match &self.feed {
            RunFeed::Stream(stream) => stream.run().cloned(),
            RunFeed::Parked | RunFeed::Watched(_) => None,
        })
    }

    /// The conversation as far as it was shown.
    pub(super) fn conversation(&self) -> &Conversation {
        self.reader.conversation()
    }

    /// Whether the run waits for an answer, and nothing drives it.
    pub(super) fn is_parked(&self) -> bool {
        matches!(self.feed, RunFeed::Parked)
    }

    /// Continues a run that waited, or goes on waiting for sub-agents in the background.
    pub(super) async fn resume(&mut self) -> anyhow::Result<()> {
        if self.is_parked() {
            let now = self.reader.conversation();
            let is_background = now.run.is_none() && now.background_children().next().is_some();
            let stream = match is_background {
                true => self.session.follow_next_run(now.head).await?,
                false => self.session.resume().await?,
            };
            self.feed = RunFeed::Stream(Box::new(stream));
        }
        Ok(())
    }

    /// Waits for what happens next. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> anyhow::Result<RunEvent> {
        if std::mem::take(&mut self.is_over) {
            return Ok(RunEvent::WatchedRunEnded);
        }
        let item = match &mut self.feed {
            RunFeed::Parked => {
                return Ok(RunEvent::Messages(self.reader.next_of_sub_agents().await?));
            }
            RunFeed::Stream(stream) => tokio::select! {
                biased;
                item = stream.next() => item?,
                messages = self.reader.next_of_sub_agents() => {
                    return Ok(RunEvent::Messages(messages?));
                }
            },
            RunFeed::Watched(items) => tokio::select! {
                biased;
                item = items.next() => Some(item?),
                messages = self.reader.next_of_sub_agents() => {
                    return Ok(RunEvent::Messages(messages?));
                }
            },
        };
        match item {
            Some(item) => {
                let had_run = self.reader.conversation().run.is_some();
                let messages = self.reader.read(&item).await?;
                let is_watched = matches!(self.feed, RunFeed::Watched(_));
                self.is_over = is_watched && had_run && self.reader.conversation().run.is_none();
                Ok(RunEvent::Messages(messages))
            }
            None => match std::mem::replace(&mut self.feed, RunFeed::Parked) {
                RunFeed::Stream(stream) => {
                    Ok(RunEvent::Rested(Box::new(stream.wait_for_end().await?)))
                }
                RunFeed::Parked | RunFeed::Watched(_) => {
                    Ok(RunEvent::Rested(Box::new(RunOutcome::HandedOver)))
                }
            },
        }
    }
}
