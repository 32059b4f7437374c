//! Sub-agents in the background: between two turns the channel goes on reading the conversation, and
//! the result of a sub-agent starts a turn. A session that owes such a turn is not idle.

use std::time::Duration;

use serde_json::json;
use windlass::StreamItem;
use windlass::core::log::ids::{LaneId, Seq};
use windlass::messages::MessageReader;

use super::channel_loop::Channel;
use super::turn::{Turn, TurnStart};

/// The variable that bounds how long the process waits for background work after the end of its
/// input, in milliseconds; 0 is without a bound.
const WAIT_VARIABLE: &str = "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS";

/// How long the process waits unless the variable says otherwise.
const DEFAULT_WAIT: Duration = Duration::from_mins(10);

/// What is known of the background between two turns.
pub(super) struct BackgroundWatch {
    /// The reader of the last turn, with the feeds of its sub-agents.
    reader: Option<(LaneId, MessageReader)>,
    /// How long to wait after the end of the input; `None` without a bound.
    wait: Option<Duration>,
}

impl BackgroundWatch {
    pub(super) fn from_environment() -> Self {
        let given = std::env::var(WAIT_VARIABLE).ok().and_then(|value| value.parse().ok());
        let wait = given.map_or(DEFAULT_WAIT, Duration::from_millis);
        Self { reader: None, wait: Some(wait).filter(|wait| !wait.is_zero()) }
    }

    /// Keeps the reader of a turn if the conversation has work in the background, or a run that such
    /// work has started.
    pub(super) fn keep_reader(&mut self, lane: &LaneId, reader: MessageReader) {
        let now = reader.conversation();
        let is_needed = now.run.is_some() || now.background_children().next().is_some();
        self.reader = is_needed.then(|| (lane.clone(), reader));
    }

    /// Takes the reader, if it reads this conversation.
    pub(super) fn take_reader(&mut self, lane: &LaneId) -> Option<MessageReader> {
        self.reader.take().filter(|(of, _)| of == lane).map(|(_, reader)| reader)
    }

    /// Whether the conversation owes a turn for work in the background.
    pub(super) fn is_owed(&self) -> bool {
        self.reader.is_some()
    }

    /// Resolves when the wait after the last event is over.
    pub(super) fn timeout(&self) -> impl Future<Output = ()> + use<> {
        let wait = self.wait;
        async move {
            let never = std::future::pending::<()>();
            match wait {
                Some(wait) => _ = tokio::time::timeout(wait, never).await,
                None => never.await,
            }
        }
    }
}

impl Channel {
    /// Whether a run is in progress, rather than only work in the background.
    pub(super) fn is_at_work(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| !turn.is_waiting())
    }

    /// Waits for the next result of a sub-agent in the background, as a turn of its own.
    pub(super) async fn watch_background(&mut self) -> anyhow::Result<()> {
        if self.turn.is_some() {
            return Ok(());
        }
        let Some(reader) = self.background.take_reader(self.session.lane()) else { return Ok(()) };
        let now = reader.conversation();
        let (head, run) = (now.head, now.run.as_ref().map(|run| run.id.clone()));
        let has_started = run.is_some();
        let start = TurnStart {
            stream: self.session.follow_next_run(head).await?,
            reader,
            run,
            init: self.init_info(),
            prompt_uuid: None,
            origin: Some(json!({ "kind": "task-notification" })),
        };
        let turn = self.turn.insert(Turn::new(self.session.clone(), start));
        let init = if has_started { turn.take_init() } else { Vec::new() };
        Ok(self.write_all(&init).await?)
    }

    /// Stops waiting, because another turn starts; its reader goes on with the background.
    pub(super) fn pause_background(&mut self) {
        if let Some(turn) = self.turn.take_if(|turn| turn.is_waiting()) {
            self.background.keep_reader(self.session.lane(), turn.into_reader());
        }
    }

    /// Leaves the work in the background to the next process that serves the conversation.
    pub(super) fn stop_watching(&mut self) {
        self.pause_background();
        self.background.take_reader(self.session.lane());
    }

    /// Reads what happened since the reader stopped, up to the beginning of a turn.
    pub(super) async fn catch_up(
        &mut self,
        mut reader: MessageReader,
        until: Seq,
    ) -> anyhow::Result<MessageReader> {
        let head = reader.conversation().head;
        if head >= until {
            return Ok(reader);
        }
        for entry in self.session.read_log().await? {
            if entry.seq > head && entry.seq <= until {
                let messages = reader.read(&StreamItem::Entry(entry.into())).await?;
                self.write_all(&messages).await?;
            }
        }
        Ok(reader)
    }
}
