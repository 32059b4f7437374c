//! Reading the body of a request within its bounds.

use std::future::poll_fn;
use std::pin::Pin;

use hyper::body::{Body, Bytes, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use windlass_runtime::ports::Clock;

use super::limits::{
    BODY_MS, MAX_BODY_BYTES, MAX_DISCARDED_BYTES, MAX_HELD_BYTES, MAX_QUOTED_CHARS,
};
use super::refusal::Refusal;
use super::state::State;

/// A body and its share of the memory all bodies may take.
pub(super) struct Held {
    pub(super) text: String,
    _share: Vec<OwnedSemaphorePermit>,
}

/// Memory is counted in pieces of this size.
const UNIT_BYTES: usize = 16 * 1024;

/// The memory all bodies may take together.
pub(super) fn memory() -> Semaphore {
    Semaphore::new(MAX_HELD_BYTES / UNIT_BYTES)
}

/// Reads a body to its end. Nothing comes back if the client stops sending.
pub(super) async fn read(state: &State, body: Incoming) -> Option<Result<Held, Refusal>> {
    tokio::select! {
        read = collect(state, body) => read,
        () = too_slow(state.clock.as_ref()) => Some(Err(Refusal::new(408, "the request body took too long"))),
    }
}

async fn too_slow(clock: &dyn Clock) {
    clock.sleep(BODY_MS).await;
}

async fn collect(state: &State, mut body: Incoming) -> Option<Result<Held, Refusal>> {
    let (mut bytes, mut share) = (Vec::new(), Vec::new());
    while let Some(chunk) = chunk(&mut body).await {
        let chunk = chunk.ok()?;
        if bytes.len().saturating_add(chunk.len()) > MAX_BODY_BYTES {
            return Some(Err(discard(body).await?));
        }
        match grow(state, bytes.len(), chunk.len()) {
            Some(permit) => share.extend(permit),
            None => return Some(Err(Refusal::new(529, "Overloaded: too many large requests"))),
        }
        bytes.extend_from_slice(&chunk);
    }
    Some(text(bytes).map(|text| Held { text, _share: share }))
}

async fn chunk(body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

/// The permit for a body that grows from `held` by `more`; nothing if there is no memory left.
fn grow(state: &State, held: usize, more: usize) -> Option<Option<OwnedSemaphorePermit>> {
    let units = |bytes: usize| bytes.div_ceil(UNIT_BYTES);
    match units(held.saturating_add(more)).saturating_sub(units(held)) {
        0 => Some(None),
        grown => {
            let grown = u32::try_from(grown).ok()?;
            state.memory.clone().try_acquire_many_owned(grown).ok().map(Some)
        }
    }
}

/// Reads on without keeping anything, so that the client is ready to hear that it was too much.
async fn discard(mut body: Incoming) -> Option<Refusal> {
    let mut discarded = 0_usize;
    while let Some(chunk) = chunk(&mut body).await {
        discarded = discarded.saturating_add(chunk.ok()?.len());
        if discarded > MAX_DISCARDED_BYTES {
            return None;
        }
    }
    Some(Refusal::new(413, "Request exceeds the maximum size"))
}

fn text(bytes: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(bytes).map_err(|_| Refusal::invalid("The request body is not valid UTF-8"))
}

/// Something a client sent, short enough to be sent back.
pub(super) fn quoted(text: &str) -> String {
    text.chars().take(MAX_QUOTED_CHARS).collect()
}
