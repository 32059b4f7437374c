//! Notifications (`LISTEN`/`NOTIFY`) of new inbox messages to other processes. They are sent after
//! the commit, on a connection of their own, coalesced. A lost notification costs one poll and
//! nothing else: on an engine without notifications, messages only arrive later.
//!
//! A payload is a sender and a lane; a sender alone announces a worker that polls for runnable
//! lanes.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::Type;
use tokio_postgres::{AsyncMessage, Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use windlass_core::log::ids::LaneId;
use windlass_runtime::ports::WorkerId;
use windlass_runtime::worker_identity;

use super::backoff::ReconnectBackoff;
use super::config::ServerConfig;
use super::connection::{SqlValue, TypedSql};
use super::rendezvous::WorkerRing;
use super::server_address::StatementMode;
use crate::inbox_hints::InboxHints;

/// The driver's stream: encrypted or not, as the server's address asks.
type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Maximum number of queued notifications; the others are left to polling.
const MAX_QUEUED_NOTIFICATIONS: usize = 1_024;

/// Minimum time between two sends of a process.
const SEND_INTERVAL: Duration = Duration::from_millis(4);

/// How often a worker that polls for runnable lanes announces itself.
const PRESENCE_INTERVAL: Duration = Duration::from_secs(3);

/// How long a worker waits that is not the first choice for a lane.
const FOLLOWER_DELAY: Duration = Duration::from_millis(4);

const LISTEN_SQL: &str = "LISTEN windlass_inbox";

/// Sends notifications. They write nothing, so they do not wait for the disk; this is set for this
/// transaction only, because behind a pooler the next one belongs to another client.
static NOTIFY_SQL: LazyLock<TypedSql> = LazyLock::new(|| {
    let text = "SELECT set_config('synchronous_commit', 'off', true),
             pg_notify('windlass_inbox', notice)
         FROM unnest($1::text[]) AS n (notice)";
    TypedSql::new(text, &[Type::TEXT_ARRAY])
});

#[derive(Debug)]
pub(super) struct InboxNotifier {
    hints: Arc<InboxHints>,
    queue: mpsc::Sender<LaneId>,
}

impl InboxNotifier {
    pub(super) fn start(config: Arc<ServerConfig>, hints: Arc<InboxHints>) -> Self {
        let (queue, lanes) = mpsc::channel(MAX_QUEUED_NOTIFICATIONS);
        tokio::spawn(run_notifier(config, Arc::clone(&hints), lanes));
        Self { hints, queue }
    }

    /// Notifies of a new message: tasks of this process at once, other processes soon.
    pub(super) fn notify_lane(&self, lane: &LaneId) {
        self.hints.notify_lane(lane);
        // A full queue is harmless: waiters poll.
        _ = self.queue.try_send(lane.clone());
    }
}

/// Reconnects until the store is closed.
async fn run_notifier(
    config: Arc<ServerConfig>,
    hints: Arc<InboxHints>,
    mut lanes: mpsc::Receiver<LaneId>,
) {
    // Tasks of this process were notified directly: our own notifications are ignored.
    let sender = worker_identity::new_worker_id();
    let mut pauses = ReconnectBackoff::new();
    while !lanes.is_closed() {
        if let Ok((client, connection)) = config.address.config.connect(config.tls.clone()).await {
            pauses = ReconnectBackoff::new();
            let listening = tokio::spawn(forward_notifications(
                Arc::clone(&sender),
                Arc::clone(&hints),
                connection,
            ));
            send_notifications(&config, &client, &sender, &hints, &mut lanes).await;
            listening.abort();
        }
        pauses.wait_next().await;
    }
}

/// Forwards notifications of other processes to the hints, until the connection ends.
async fn forward_notifications(
    own: WorkerId,
    hints: Arc<InboxHints>,
    mut connection: Connection<Socket, TlsStream>,
) {
    let mut ring = WorkerRing::new(Arc::clone(&own));
    let mut rounds = tokio::time::interval(PRESENCE_INTERVAL);
    let later = DelayedHint::new(Arc::clone(&hints));
    loop {
        let message = tokio::select! {
            message = poll_fn(|context| connection.poll_message(context)) => message,
            _ = rounds.tick() => {
                ring.expire_silent();
                continue;
            }
        };
        let Some(Ok(message)) = message else { return };
        let AsyncMessage::Notification(notice) = message else { continue };
        match notice.payload().split_once(' ') {
            None => ring.record_alive(notice.payload()),
            Some((sender, _)) if *sender == *own => {}
            Some((_, lane)) => {
                let lane = LaneId::from(lane);
                hints.notify_if_waiting(&lane);
                match ring.is_first_choice(&lane) {
                    true => hints.notify_any(),
                    false => later.notify_any_later(),
                }
            }
        }
    }
}

/// Wakes a task that waits for any lane after a delay; requests during the delay are coalesced.
struct DelayedHint(Arc<Notify>, JoinHandle<()>);

impl DelayedHint {
    fn new(hints: Arc<InboxHints>) -> Self {
        let asked = Arc::new(Notify::new());
        let telling = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            loop {
                telling.notified().await;
                sleep(FOLLOWER_DELAY).await;
                hints.notify_any();
            }
        });
        Self(asked, task)
    }

    fn notify_any_later(&self) {
        self.0.notify_one();
    }
}

impl Drop for DelayedHint {
    fn drop(&mut self) {
        self.1.abort();
    }
}

/// Sends queued notifications, until the connection or the store is closed.
async fn send_notifications(
    config: &ServerConfig,
    client: &Client,
    own: &str,
    hints: &InboxHints,
    lanes: &mut mpsc::Receiver<LaneId>,
) {
    // An engine without `LISTEN` may still support `NOTIFY`, and the other way round.
    _ = client.batch_execute(LISTEN_SQL).await;
    let prepared = match config.statement_mode() {
        StatementMode::Prepared => {
            client.prepare_typed(&NOTIFY_SQL.text, &NOTIFY_SQL.types).await.ok()
        }
        StatementMode::Unprepared => None,
    };
    let mut rounds = tokio::time::interval(PRESENCE_INTERVAL);
    let mut together = Vec::new();
    while !client.is_closed() {
        let notices: Vec<String> = tokio::select! {
            received = lanes.recv_many(&mut together, MAX_QUEUED_NOTIFICATIONS) => match received {
                0 => return,
                _ => {
                    let distinct: HashSet<LaneId> = together.drain(..).collect();
                    distinct.iter().map(|lane| format!("{own} {lane}")).collect()
                }
            },
            _ = rounds.tick() => match hints.take_was_awaited() {
                true => vec![own.to_owned()],
                false => continue,
            },
        };
        // Processes that are not notified poll.
        _ = match &prepared {
            Some(notify) => client.query(notify, &[&notices]).await,
            None => {
                let typed: Vec<(SqlValue<'_>, Type)> = vec![(&notices, Type::TEXT_ARRAY)];
                client.query_typed(&NOTIFY_SQL.text, &typed).await
            }
        };
        sleep(SEND_INTERVAL).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "notices of one moment travel together")]
async fn sleep(time: Duration) {
    tokio::time::sleep(time).await;
}
