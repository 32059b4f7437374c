//! The stream that says when runs change, whichever process changes them. Pages that show many runs
//! read again what they show; one look at the store serves all of them.

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
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
    changes: watch::Sender<u64>,
}

impl ChangeWatch {
    /// Starts to watch the store. Without a reader it is left alone.
    pub(crate) fn start(windlass: Windlass, stop: CancellationToken) -> Self {
        let (changes, _) = watch::channel(0);
        let watch = Self { changes };
        tokio::spawn(watch.clone().run(windlass, stop));
        watch
    }

    async fn run(self, windlass: Windlass, stop: CancellationToken) {
        let mut seen = 0;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep_until(Instant::now() + LOOK_INTERVAL) => {}
            }
            if self.changes.receiver_count() == 0 {
                continue;
            }
            // A store that does not respond is looked at again; readers see it in their own requests.
            if let Ok(found) = fingerprint(&windlass).await
                && found != seen
            {
                seen = found;
                self.changes.send_modify(|count| *count += 1);
            }
        }
    }
}

/// A number that differs when a run has come, gone or changed.
async fn fingerprint(windlass: &Windlass) -> Result<u64, windlass::ports::StoreError> {
    let page = windlass.list_runs(&RunQuery::default(), COMPARED_RUNS).await?;
    let mut hasher = DefaultHasher::new();
    for run in &page.runs {
        (run.run.as_str(), run.at.0, run.cancel_requested, run.resume_available).hash(&mut hasher);
        crate::views::state_name(run.state).hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// `GET /v1/events/stream`.
pub(crate) async fn stream_changes(State(state): State<ApiState>) -> Result<Response, Problem> {
    let permit = state.streams.clone().try_acquire_owned().map_err(|_| {
        let detail = "too many streams are open; close some, or use another server";
        Problem::new(ProblemCode::TooManyStreams, detail)
    })?;
    let reader = ChangeReader { changes: state.changes.changes.subscribe(), stop: state.stop };
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

struct ChangeReader {
    changes: watch::Receiver<u64>,
    stop: CancellationToken,
}

impl ChangeReader {
    async fn next(&mut self) -> Option<Bytes> {
        tokio::select! {
            () = self.stop.cancelled() => None,
            changed = self.changes.changed() => {
                changed.ok()?;
                let change = *self.changes.borrow_and_update();
                Some(encode_event(None, "changed", &RunsChanged { change }))
            }
            () = tokio::time::sleep_until(Instant::now() + HEARTBEAT_INTERVAL) => Some(Bytes::from_static(HEARTBEAT.as_bytes())),
        }
    }
}
