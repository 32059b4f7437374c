//! A call that was sent to a server. It goes on by itself: a run that waits for an answer of the user
//! may rest, and take the call up again.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use windlass_core::call::input_request::{InputRequest, MAX_REQUESTS, RequestAnswer};
use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_runtime::ports::CallHeartbeat;

use crate::client::CallFollower;
use crate::connection::McpError;
use crate::elicitation::UserRequest;
use crate::managed_server::ManagedServer;
use crate::server::McpServer;

/// Number of calls of one server that wait for an answer of the user.
const MAX_SUSPENDED: usize = 100;

/// How long a call waits for the run to come back; later it is sent again.
const MAX_SUSPENDED_MS: u64 = 24 * 60 * 60 * 1_000;

/// How often a call that requires pages to be opened is sent again.
const MAX_PAGE_ROUNDS: usize = 3;

/// The code of a server that requires the user to open a page first.
pub(crate) const PAGES_REQUIRED: i64 = -32042;

/// The heartbeat of a call, which changes when a run takes the call up again.
#[derive(Clone, Default)]
pub(crate) struct CurrentHeartbeat(Arc<Mutex<CallHeartbeat>>);

impl CurrentHeartbeat {
    pub(crate) fn beat(&self) {
        self.0.lock().beat();
    }

    fn replace(&self, heartbeat: CallHeartbeat) {
        *self.0.lock() = heartbeat;
    }
}

/// The tool that is called, as it was offered.
#[derive(Clone)]
pub(crate) struct CalledTool {
    /// Weak: a call that waits for the user does not keep its server.
    pub(crate) server: Weak<ManagedServer>,
    pub(crate) remote_name: String,
    pub(crate) definition_hash: String,
}

/// A call in progress. Dropping it cancels it.
pub(crate) struct OngoingCall {
    requests: mpsc::Receiver<UserRequest>,
    task: JoinSet<Result<Value, McpError>>,
    heartbeat: CurrentHeartbeat,
    /// The answer to give next.
    pending: Option<(InputRequest, oneshot::Sender<RequestAnswer>)>,
}

/// What comes of a call.
pub(crate) enum CallProgress {
    Ended(Result<Value, McpError>),
    Asks(InputRequest),
}

impl OngoingCall {
    /// Sends a call.
    pub(crate) fn start(tool: CalledTool, call: Value) -> Self {
        let (sender, requests) = mpsc::channel(MAX_REQUESTS);
        let heartbeat = CurrentHeartbeat::default();
        let follower = CallFollower { heartbeat: heartbeat.clone(), requests: sender };
        let mut task = JoinSet::new();
        task.spawn(send_call(tool, call, follower));
        Self { requests, task, heartbeat, pending: None }
    }

    /// Uses the heartbeat of another attempt from here on.
    pub(crate) fn beat_with(&self, heartbeat: CallHeartbeat) {
        self.heartbeat.replace(heartbeat);
    }

    /// Waits until the call ends or asks the user.
    pub(crate) async fn next(&mut self) -> CallProgress {
        let unknown = || McpError::ConnectionLost("the call was dropped".to_owned());
        tokio::select! {
            biased;
            Some(asked) = self.requests.recv() => {
                self.pending = Some((asked.request.clone(), asked.reply));
                CallProgress::Asks(asked.request)
            }
            ended = self.task.join_next() => {
                CallProgress::Ended(ended.and_then(Result::ok).unwrap_or_else(|| Err(unknown())))
            }
        }
    }

    /// Answers what was asked last.
    pub(crate) fn answer(&mut self, answer: RequestAnswer) {
        if let Some((_, reply)) = self.pending.take() {
            drop(reply.send(answer));
        }
    }

    /// Returns what was asked last and is not answered.
    pub(crate) fn asked(&self) -> Option<&InputRequest> {
        self.pending.as_ref().map(|(request, _)| request)
    }
}

/// Calls that wait for an answer of the user, by their idempotency keys.
#[derive(Default)]
pub(crate) struct SuspendedCalls(Mutex<VecDeque<SuspendedCall>>);

struct SuspendedCall {
    key: Arc<str>,
    lane: LaneId,
    since: UnixMillis,
    call: OngoingCall,
}

impl SuspendedCalls {
    /// Keeps a call until its answer comes. The oldest ones are cancelled.
    pub(crate) fn keep(&self, now: UnixMillis, (key, lane): (Arc<str>, LaneId), call: OngoingCall) {
        let mut calls = self.0.lock();
        calls.retain(|kept| kept.key != key && now.ms_since(kept.since) < MAX_SUSPENDED_MS);
        if calls.len() >= MAX_SUSPENDED {
            calls.pop_front();
        }
        calls.push_back(SuspendedCall { key, lane, since: now, call });
    }

    /// Takes a call that still waits.
    pub(crate) fn take(&self, key: &str) -> Option<OngoingCall> {
        let mut calls = self.0.lock();
        let at = calls.iter().position(|kept| &*kept.key == key)?;
        calls.remove(at).map(|kept| kept.call)
    }

    /// Cancels the calls of a conversation.
    pub(crate) fn cancel_lane(&self, lane: &LaneId) {
        self.0.lock().retain(|kept| kept.lane != *lane);
    }
}

/// Sends a call, and again after the user has opened the pages that the server requires.
async fn send_call(
    tool: CalledTool,
    call: Value,
    follower: CallFollower,
) -> Result<Value, McpError> {
    for _ in 0..MAX_PAGE_ROUNDS {
        match send_once(&tool, &call, &follower).await {
            Err(McpError::PagesRequired(pages)) => {
                for request in pages {
                    let (reply, answer) = oneshot::channel();
                    drop(follower.requests.send(UserRequest { request, reply }).await);
                    if !matches!(answer.await, Ok(RequestAnswer::Accepted { .. })) {
                        let message = "the user did not open the page that it requires".to_owned();
                        return Err(McpError::Refused { code: PAGES_REQUIRED, message });
                    }
                }
            }
            ended => return ended,
        }
    }
    let message = "it requires a page to be opened again and again".to_owned();
    Err(McpError::Refused { code: PAGES_REQUIRED, message })
}

/// Sends a call. A session that the server has forgotten is opened anew, because the server has not
/// looked at the call; nothing else is repeated.
async fn send_once(
    tool: &CalledTool,
    call: &Value,
    follower: &CallFollower,
) -> Result<Value, McpError> {
    let connected = tool.connect(None).await?;
    let request = |server: Arc<McpServer>| async move {
        server.client().call_tool(call.clone(), follower.clone()).await
    };
    match request(Arc::clone(&connected)).await {
        Err(McpError::SessionExpired) => {
            let reconnected = tool.connect(Some(&connected)).await?;
            request(reconnected).await
        }
        answered => answered,
    }
}

impl CalledTool {
    /// Returns the connection on which the tool is still what was offered: a server may describe its
    /// tools differently once it is connected.
    async fn connect(&self, after: Option<&Arc<McpServer>>) -> Result<Arc<McpServer>, McpError> {
        let removed = || McpError::Unreachable("the server was removed".to_owned());
        let server = self.server.upgrade().ok_or_else(removed)?;
        let connected = match after {
            Some(old) => server.connected_after(old).await?,
            None => server.connected().await?,
        };
        server.wait_until_tools_are_known().await;
        let is_offered = server.offers(&self.remote_name, &self.definition_hash);
        is_offered.then_some(connected).ok_or(McpError::ToolChanged)
    }
}

/// The parameters of a call. The key is equal for every attempt.
pub(crate) fn call_parameters(tool: &str, arguments: Value, key: &str) -> Value {
    json!({"name": tool, "arguments": arguments, "_meta": {IDEMPOTENCY_KEY: key}})
}

/// The name under which a server finds the key that is equal for every attempt of one call.
const IDEMPOTENCY_KEY: &str = "windlass/idempotencyKey";
