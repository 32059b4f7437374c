//! Control requests to the SDK that wait for their answer: permission prompts, hook callbacks and
//! MCP messages. Answers arrive in any order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::frame_writer::{FrameWriter, OutputClosed};
use super::incoming::ControlResponse;
use crate::setup;

#[cfg(test)]
#[path = "host_requests_tests.rs"]
mod host_requests_tests;

/// Maximum number of requests that wait at once.
const MAX_PENDING: usize = 1_024;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostRequestError {
    #[error("{0}")]
    Refused(String),
    #[error("the SDK did not answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    #[error("the SDK closed its end of the channel")]
    Closed,
    #[error("more than {MAX_PENDING} requests wait for the SDK")]
    TooMany,
}

impl From<OutputClosed> for HostRequestError {
    fn from(_: OutputClosed) -> Self {
        Self::Closed
    }
}

type Answer = Result<Value, HostRequestError>;

/// Sends control requests to the SDK. Clones share the requests that wait.
#[derive(Clone)]
pub(crate) struct HostRequests {
    writer: FrameWriter,
    pending: Arc<Mutex<PendingRequests>>,
}

#[derive(Default)]
struct PendingRequests {
    is_closed: bool,
    waiting: HashMap<String, oneshot::Sender<Answer>>,
}

impl HostRequests {
    pub(super) fn new(writer: FrameWriter) -> Self {
        Self { writer, pending: Arc::default() }
    }

    /// Sends a request and waits for its answer. If the future is dropped before, or the time is
    /// up, the request is withdrawn.
    pub(crate) async fn send(&self, request: Value, timeout: Duration) -> Answer {
        let id = setup::new_id();
        let answer = self.register(&id)?;
        let mut unanswered = UnansweredRequest { requests: self, id: Some(id.clone()) };
        self.writer
            .send(&json!({"type": "control_request", "request_id": id, "request": request}))
            .await?;
        let answer = tokio::time::timeout(timeout, answer).await;
        let answer = answer.map_err(|_| HostRequestError::TimedOut(timeout))?;
        unanswered.id = None;
        answer.unwrap_or(Err(HostRequestError::Closed))
    }

    fn register(&self, id: &str) -> Result<oneshot::Receiver<Answer>, HostRequestError> {
        let (sender, answer) = oneshot::channel();
        let mut pending = self.lock();
        if pending.is_closed {
            return Err(HostRequestError::Closed);
        }
        if pending.waiting.len() >= MAX_PENDING {
            return Err(HostRequestError::TooMany);
        }
        pending.waiting.insert(id.to_owned(), sender);
        Ok(answer)
    }

    /// Delivers an answer of the SDK. One that nothing waits for is ignored.
    pub(super) fn deliver(&self, response: ControlResponse) {
        if let Some(waiting) = self.lock().waiting.remove(&response.request_id) {
            let _ = waiting.send(response.result.map_err(HostRequestError::Refused));
        }
    }

    /// Fails every request that waits, and every later one: no answer can come any more.
    pub(super) fn close(&self) {
        let mut pending = self.lock();
        pending.is_closed = true;
        for (_, waiting) in pending.waiting.drain() {
            let _ = waiting.send(Err(HostRequestError::Closed));
        }
    }

    fn lock(&self) -> MutexGuard<'_, PendingRequests> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request whose answer has not arrived; dropped, it is withdrawn.
struct UnansweredRequest<'a> {
    requests: &'a HostRequests,
    id: Option<String>,
}

impl Drop for UnansweredRequest<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let was_waiting = self.requests.lock().waiting.remove(&id).is_some();
        if was_waiting {
            let withdrawal = json!({"type": "control_cancel_request", "request_id": id});
            self.requests.writer.send_soon(&withdrawal);
        }
    }
}
