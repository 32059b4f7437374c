//! Telling other processes that mail arrived. A notice is sent after the commit, on a connection of
//! its own, together with others of the same moment. Losing one costs a poll and nothing else: an
//! engine without notices only answers later.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Connection, Notification, Socket};
use windlass_core::ids::LaneId;

use super::home::Home;
use super::link::Sql;
use super::pause::Pauses;
use super::tls::Stream;
use crate::hints::Hints;

/// Lanes that may wait to be told of; more are left to polling.
const QUEUE: usize = 1_024;

/// At most this often does a process send.
const EVERY: Duration = Duration::from_millis(50);

const LISTEN: &str = "LISTEN windlass_mail";

static NOTIFY: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT pg_notify('windlass_mail', lane) FROM unnest($1::text[]) AS l (lane)";
    Sql::new(text, &[Type::TEXT_ARRAY])
});

#[derive(Debug)]
pub(super) struct Notices {
    hints: Arc<Hints>,
    queue: mpsc::Sender<LaneId>,
}

impl Notices {
    pub(super) fn start(home: Arc<Home>, hints: Arc<Hints>) -> Self {
        let (queue, lanes) = mpsc::channel(QUEUE);
        tokio::spawn(keep(home, Arc::clone(&hints), lanes));
        Self { hints, queue }
    }

    /// Mail arrived: says so here at once, and elsewhere soon.
    pub(super) fn tell(&self, lane: &LaneId) {
        self.hints.tell(lane);
        // Full is as good as sent: those who wait poll.
        _ = self.queue.try_send(lane.clone());
    }
}

/// Connects again and again until the store is closed.
async fn keep(home: Arc<Home>, hints: Arc<Hints>, mut lanes: mpsc::Receiver<LaneId>) {
    let mut pauses = Pauses::new();
    while !lanes.is_closed() {
        if let Ok((client, connection)) = home.address.config.connect(home.tls.clone()).await {
            pauses = Pauses::new();
            let listening = tokio::spawn(listen(Arc::clone(&hints), connection));
            send(&client, &mut lanes).await;
            listening.abort();
        }
        pauses.wait().await;
    }
}

/// Passes on what others say, until the connection ends.
async fn listen(hints: Arc<Hints>, mut connection: Connection<Socket, Stream<Socket>>) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(notice) = message {
            hints.pass_on(&lane_of(&notice));
        }
    }
}

fn lane_of(notice: &Notification) -> LaneId {
    LaneId::from(notice.payload().to_owned())
}

/// Says what is to be said, until the connection or the store ends.
async fn send(client: &Client, lanes: &mut mpsc::Receiver<LaneId>) {
    // An engine that cannot listen may still be able to speak, and the other way round.
    _ = client.batch_execute(LISTEN).await;
    let mut together = Vec::new();
    while !client.is_closed() && lanes.recv_many(&mut together, QUEUE).await > 0 {
        let distinct: HashSet<LaneId> = together.drain(..).collect();
        let names: Vec<&str> = distinct.iter().map(LaneId::as_str).collect();
        let typed: [(&(dyn tokio_postgres::types::ToSql + Sync), Type); 1] =
            [(&names, Type::TEXT_ARRAY)];
        if client.query_typed(&NOTIFY.text, &typed).await.is_err() && client.is_closed() {
            return;
        }
        breathe().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "notices of one moment travel together")]
async fn breathe() {
    tokio::time::sleep(EVERY).await;
}
