//! Telling other processes that mail arrived. A notice is sent after the commit, on a connection of
//! its own, together with others of the same moment. Losing one costs a poll and nothing else: an
//! engine without notices only answers later.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};
use windlass_core::ids::LaneId;
use windlass_runtime::identity;
use windlass_runtime::ports::WorkerId;

use super::address::Statements;
use super::home::Home;
use super::link::{Sql, Value};
use super::pause::Pauses;
use super::tls::Stream;
use crate::hints::Hints;

/// Lanes that may wait to be told of; more are left to polling.
const QUEUE: usize = 1_024;

/// At most this often does a process send.
const EVERY: Duration = Duration::from_millis(4);

const LISTEN: &str = "LISTEN windlass_mail";

/// A notice writes nothing, so nobody waits for the disk: that is said for this transaction alone,
/// because behind a pool the next one is somebody else's.
static NOTIFY: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT set_config('synchronous_commit', 'off', true),
             pg_notify('windlass_mail', $1 || ' ' || lane)
         FROM unnest($2::text[]) AS l (lane)";
    Sql::new(text, &[Type::TEXT, Type::TEXT_ARRAY])
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
    // Whoever is here was told at once: what comes back from the server is not for us.
    let sender = identity::new_worker();
    let mut pauses = Pauses::new();
    while !lanes.is_closed() {
        if let Ok((client, connection)) = home.address.config.connect(home.tls.clone()).await {
            pauses = Pauses::new();
            let listening =
                tokio::spawn(listen(Arc::clone(&sender), Arc::clone(&hints), connection));
            send(&home, &client, &sender, &mut lanes).await;
            listening.abort();
        }
        pauses.wait().await;
    }
}

/// Passes on what others say, until the connection ends.
async fn listen(
    own: WorkerId,
    hints: Arc<Hints>,
    mut connection: Connection<Socket, Stream<Socket>>,
) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        let AsyncMessage::Notification(notice) = message else { continue };
        if let Some((sender, lane)) = notice.payload().split_once(' ')
            && *sender != *own
        {
            hints.pass_on(&LaneId::from(lane));
        }
    }
}

/// Says what is to be said, until the connection or the store ends.
async fn send(home: &Home, client: &Client, sender: &str, lanes: &mut mpsc::Receiver<LaneId>) {
    // An engine that cannot listen may still be able to speak, and the other way round.
    _ = client.batch_execute(LISTEN).await;
    let prepared = match home.statements() {
        Statements::Prepared => client.prepare_typed(&NOTIFY.text, &NOTIFY.types).await.ok(),
        Statements::Unprepared => None,
    };
    let mut together = Vec::new();
    while !client.is_closed() && lanes.recv_many(&mut together, QUEUE).await > 0 {
        let distinct: HashSet<LaneId> = together.drain(..).collect();
        let names: Vec<&str> = distinct.iter().map(LaneId::as_str).collect();
        let values: [Value<'_>; 2] = [&sender, &names];
        // Whoever is not told polls.
        _ = match &prepared {
            Some(notify) => client.query(notify, &values).await,
            None => {
                let typed: Vec<_> = values.into_iter().zip(NOTIFY.types.iter().cloned()).collect();
                client.query_typed(&NOTIFY.text, &typed).await
            }
        };
        breathe().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "notices of one moment travel together")]
async fn breathe() {
    tokio::time::sleep(EVERY).await;
}
