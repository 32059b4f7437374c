//! Reads the body of a request within the limits.

use std::future::poll_fn;
use std::pin::Pin;

use hyper::body::{Body, Bytes, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use windlass_runtime::ports::Clock;

use super::limits::{
    BODY_MS, MAX_BODY_BYTES, MAX_DISCARDED_BYTES, MAX_HELD_BYTES, MAX_QUOTED_CHARS,
};
use super::rejection::RequestRejection;
use super::server_state::ServerState;

/// A body and its share of the memory that all bodies may take.
pub(super) struct BufferedBody {
    pub(super) text: String,
    _share: Vec<OwnedSemaphorePermit>,
}

/// The unit in which memory is counted.
const UNIT_BYTES: usize = 16 * 1024;

/// The memory that all bodies may take together.
pub(super) fn body_memory() -> Semaphore {
    Semaphore::new(MAX_HELD_BYTES / UNIT_BYTES)
}

/// Reads a body to its end. Returns `None` if the client stops sending.
pub(super) async fn read_body(
    state: &ServerState,
    body: Incoming,
) -> Option<Result<BufferedBody, RequestRejection>> {
    tokio::select! {
        read = collect_body(state, body) => read,
        () = body_timeout(state.clock.as_ref()) => Some(Err(RequestRejection::new(408, "the request body took too long"))),
    }
}

async fn body_timeout(clock: &dyn Clock) {
    clock.sleep(BODY_MS).await;
}

async fn collect_body(
    state: &ServerState,
    mut body: Incoming,
) -> Option<Result<BufferedBody, RequestRejection>> {
    let (mut bytes, mut share) = (Vec::new(), Vec::new());
    while let Some(chunk) = next_chunk(&mut body).await {
        let chunk = chunk.ok()?;
        if bytes.len().saturating_add(chunk.len()) > MAX_BODY_BYTES {
            return Some(Err(discard_rest(body).await?));
        }
        match acquire_memory(state, bytes.len(), chunk.len()) {
            Some(permit) => share.extend(permit),
            None => {
                return Some(Err(RequestRejection::new(
                    529,
                    "Overloaded: too many large requests",
                )));
            }
        }
        bytes.extend_from_slice(&chunk);
    }
    Some(into_text(bytes).map(|text| BufferedBody { text, _share: share }))
}

async fn next_chunk(body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// Acquires the memory for a body that grows from `held` by `more`; `None` if there is no memory
/// left.
fn acquire_memory(
    state: &ServerState,
    held: usize,
    more: usize,
) -> Option<Option<OwnedSemaphorePermit>> {
    let units = |bytes: usize| bytes.div_ceil(UNIT_BYTES);
    match units(held.saturating_add(more)).saturating_sub(units(held)) {
        0 => Some(None),
        grown => {
            let grown = u32::try_from(grown).ok()?;
            state.body_memory.clone().try_acquire_many_owned(grown).ok().map(Some)
        }
    }
}

/// Reads the rest without keeping it, so that the client is ready to read the rejection.
async fn discard_rest(mut body: Incoming) -> Option<RequestRejection> {
    let mut discarded = 0_usize;
    while let Some(chunk) = next_chunk(&mut body).await {
        discarded = discarded.saturating_add(chunk.ok()?.len());
        if discarded > MAX_DISCARDED_BYTES {
            return None;
        }
    }
    Some(RequestRejection::new(413, "Request exceeds the maximum size"))
}

fn into_text(bytes: Vec<u8>) -> Result<String, RequestRejection> {
    String::from_utf8(bytes)
        .map_err(|_| RequestRejection::invalid("The request body is not valid UTF-8"))
}

/// A text that a client sent, short enough to be quoted.
pub(super) fn truncate_quoted(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}
