//! Telling other processes that mail arrived. A notice is sent after the commit, on a connection of
//! its own, together with others of the same moment. Losing one costs a poll and nothing else: an
//! engine without notices only answers later.
//!
//! A notice is a sender and a lane; a sender alone is somebody who looks for work.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};
use windlass_core::ids::LaneId;
use windlass_runtime::identity;
use windlass_runtime::ports::WorkerId;

use super::address::Statements;
use super::company::Company;
use super::home::Home;
use super::link::{Sql, Value};
use super::pause::Pauses;
use super::tls::Stream;
use crate::hints::Hints;

/// Lanes that may wait to be told of; more are left to polling.
const QUEUE: usize = 1_024;

/// At most this often does a process send.
const EVERY: Duration = Duration::from_millis(4);

/// How often those who look for work say so.
const ROUND: Duration = Duration::from_secs(3);

/// How long those wait who are not to look first.
const AFTER_THE_FIRST: Duration = Duration::from_millis(4);

const LISTEN: &str = "LISTEN windlass_mail";

/// A notice writes nothing, so nobody waits for the disk: that is said for this transaction alone,
/// because behind a pool the next one is somebody else's.
static NOTIFY: LazyLock<Sql> = LazyLock::new(|| {
    let text = "SELECT set_config('synchronous_commit', 'off', true),
             pg_notify('windlass_mail', notice)
         FROM unnest($1::text[]) AS n (notice)";
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
    // Whoever is here was told at once: what comes back from the server is not for us.
    let sender = identity::new_worker();
    let mut pauses = Pauses::new();
    while !lanes.is_closed() {
        if let Ok((client, connection)) = home.address.config.connect(home.tls.clone()).await {
            pauses = Pauses::new();
            let listening =
                tokio::spawn(listen(Arc::clone(&sender), Arc::clone(&hints), connection));
            send(&home, &client, &sender, &hints, &mut lanes).await;
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
    let mut company = Company::of(Arc::clone(&own));
    let mut rounds = tokio::time::interval(ROUND);
    let later = Later::new(Arc::clone(&hints));
    loop {
        let message = tokio::select! {
            message = poll_fn(|context| connection.poll_message(context)) => message,
            _ = rounds.tick() => {
                company.age();
                continue;
            }
        };
        let Some(Ok(message)) = message else { return };
        let AsyncMessage::Notification(notice) = message else { continue };
        match notice.payload().split_once(' ') {
            None => company.hear(notice.payload()),
            Some((sender, _)) if *sender == *own => {}
            Some((_, lane)) => {
                let lane = LaneId::from(lane);
                hints.remind(&lane);
                match company.goes_first(&lane) {
                    true => hints.tell_any(),
                    false => later.tell_any(),
                }
            }
        }
    }
}

/// Tells those who look for work after a moment, once however often it is asked to meanwhile.
struct Later(Arc<Notify>, JoinHandle<()>);

impl Later {
    fn new(hints: Arc<Hints>) -> Self {
        let asked = Arc::new(Notify::new());
        let telling = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            loop {
                telling.notified().await;
                pause(AFTER_THE_FIRST).await;
                hints.tell_any();
            }
        });
        Self(asked, task)
    }

    fn tell_any(&self) {
        self.0.notify_one();
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.1.abort();
    }
}

/// Says what is to be said, until the connection or the store ends.
async fn send(
    home: &Home,
    client: &Client,
    own: &str,
    hints: &Hints,
    lanes: &mut mpsc::Receiver<LaneId>,
) {
    // An engine that cannot listen may still be able to speak, and the other way round.
    _ = client.batch_execute(LISTEN).await;
    let prepared = match home.statements() {
        Statements::Prepared => client.prepare_typed(&NOTIFY.text, &NOTIFY.types).await.ok(),
        Statements::Unprepared => None,
    };
    let mut rounds = tokio::time::interval(ROUND);
    let mut together = Vec::new();
    while !client.is_closed() {
        let notices: Vec<String> = tokio::select! {
            received = lanes.recv_many(&mut together, QUEUE) => match received {
                0 => return,
                _ => {
                    let distinct: HashSet<LaneId> = together.drain(..).collect();
                    distinct.iter().map(|lane| format!("{own} {lane}")).collect()
                }
            },
            _ = rounds.tick() => match hints.take_awaited() {
                true => vec![own.to_owned()],
                false => continue,
            },
        };
        // Whoever is not told polls.
        _ = match &prepared {
            Some(notify) => client.query(notify, &[&notices]).await,
            None => {
                let typed: Vec<(Value<'_>, Type)> = vec![(&notices, Type::TEXT_ARRAY)];
                client.query_typed(&NOTIFY.text, &typed).await
            }
        };
        pause(EVERY).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "notices of one moment travel together")]
async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
