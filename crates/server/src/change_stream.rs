//! The stream that says when runs change, whichever process changes them. Pages that show many runs
//! read again what they show; one look at the store serves all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass::{RunQuery, Windlass};

use crate::caller::Caller;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::sse::{HEARTBEAT, RETRY, encode_event};

/// How often the store is looked at while somebody reads the stream.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Runs that a look compares: the newest ones, which are those that change.
const COMPARED_RUNS: usize = 200;

/// The longest silence of the stream.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// The data of an event `changed`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunsChanged {
    /// Counts the changes that this server has seen.
    change: u64,
}

/// Looks for changes of runs while there is a reader.
#[derive(Debug, Clone)]
pub(crate) struct ChangeWatch {
    changes: watch::Sender<ChangeCounts>,
}

impl ChangeWatch {
    /// Starts to watch the store. Without a reader it is left alone.
    pub(crate) fn start(windlass: Windlass, stop: CancellationToken) -> Self {
        let (changes, _) = watch::channel(ChangeCounts::new());
        let watch = Self { changes };
        tokio::spawn(watch.clone().run(windlass, stop));
        watch
    }

    async fn run(self, windlass: Windlass, stop: CancellationToken) {
        let mut seen = BTreeMap::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep_until(Instant::now() + LOOK_INTERVAL) => {}
            }
            if self.changes.receiver_count() == 0 {
                continue;
            }
            // A store that does not respond is looked at again; readers see it in their own requests.
            if let Ok(found) = fingerprints(&windlass).await
                && found != seen
            {
                self.changes.send_modify(|counts| {
                    let tenants = found.keys().chain(seen.keys());
                    let changed: BTreeSet<&Arc<str>> =
                        tenants.filter(|it| found.get(*it) != seen.get(*it)).collect();
                    changed.into_iter().for_each(|it| *counts.entry(it.clone()).or_default() += 1);
                });
                seen = found;
            }
        }
    }
}

/// A number for each tenant that differs when a run has come, gone or changed.
async fn fingerprints(
    windlass: &Windlass,
) -> Result<BTreeMap<Arc<str>, u64>, windlass::ports::StoreError> {
    let page = windlass.list_runs(&RunQuery::default(), COMPARED_RUNS).await?;
    let mut hashers: BTreeMap<Arc<str>, DefaultHasher> = BTreeMap::new();
    for run in &page.runs {
        let hasher = hashers.entry(run.tenant.clone()).or_default();
        (run.run.as_str(), run.at.0, run.cancel_requested, run.resume_available).hash(hasher);
        crate::views::state_name(run.state).hash(hasher);
    }
    Ok(hashers.into_iter().map(|(tenant, hasher)| (tenant, hasher.finish())).collect())
}

/// `GET /v1/events/stream`.
pub(crate) async fn stream_changes(
    State(state): State<ApiState>,
    caller: Caller,
) -> Result<Response, Problem> {
    let permit = state.streams.clone().try_acquire_owned().map_err(|_| {
        let detail = "too many streams are open; close some, or use another server";
        Problem::new(ProblemCode::TooManyStreams, detail)
    })?;
    let changes = state.changes.changes.subscribe();
    let seen = count_changes(&changes.borrow(), &caller);
    let reader = ChangeReader { changes, caller, seen, stop: state.stop };
    let events = stream::unfold((reader, true), move |(mut reader, is_first)| {
        let _permit = &permit;
        async move {
            let chunk =
                if is_first { Bytes::from_static(RETRY.as_bytes()) } else { reader.next().await? };
            Some((Ok::<_, Infallible>(chunk), (reader, false)))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// How many changes this server has seen, by tenant.
type ChangeCounts = BTreeMap<Arc<str>, u64>;

/// The changes of the tenants that the caller sees.
fn count_changes(counts: &ChangeCounts, caller: &Caller) -> u64 {
    counts.iter().filter(|(tenant, _)| caller.sees(tenant)).map(|(_, count)| count).sum()
}

struct ChangeReader {
    changes: watch::Receiver<ChangeCounts>,
    caller: Caller,
    seen: u64,
    stop: CancellationToken,
}

impl ChangeReader {
    async fn next(&mut self) -> Option<Bytes> {
        let silence = tokio::time::sleep_until(Instant::now() + HEARTBEAT_INTERVAL);
        tokio::pin!(silence);
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return None,
                changed = self.changes.changed() => changed.ok()?,
                () = &mut silence => return Some(Bytes::from_static(HEARTBEAT.as_bytes())),
            }
            let change = count_changes(&self.changes.borrow_and_update(), &self.caller);
            if change != self.seen {
                self.seen = change;
                return Some(encode_event(None, "changed", &RunsChanged { change }));
            }
        }
    }
}
