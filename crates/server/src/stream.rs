//! Streams of server-sent events: what is recorded after a position, then what happens, whichever
//! process drives the conversation. A stream is pulled by its connection, so a slow client buffers
//! nothing here and delays no one; one that accepts no data is disconnected.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass::Windlass;
use windlass::core::log::ids::{LaneId, RunId};
use windlass::messages::{LogItem, LogPosition, MessageLog, MessageOptions, format_iso_time};

use crate::body::ApiQuery;
use crate::caller::Caller;
use crate::conversations::{message_options, parse_position};
use crate::lookup;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::sse::{HEARTBEAT, RETRY, encode_event};
use crate::views::state_name;

/// The longest silence of a stream.
pub(crate) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// Items that are read from the log at once.
const PAGE_ITEMS: usize = 64;

/// The header with which a reader that was disconnected says where it was.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a stream delivers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StreamParameters {
    /// Begins after this position; `Last-Event-ID` comes first.
    after: Option<String>,
    /// Whether the pieces of replies and what running calls print are delivered as they arrive.
    partial_messages: bool,
}

/// The data of an event `state`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunStateEvent {
    /// The run.
    run_id: String,
    /// Its new state, as in a run.
    state: String,
    /// Why the run ended, if it did.
    stop_cause: Option<&'static str>,
    /// When the state changed, in ISO 8601.
    at: String,
}

/// `GET /v1/conversations/{conversation_id}/stream`.
pub(crate) async fn stream_conversation(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    ApiQuery(given): ApiQuery<StreamParameters>,
) -> Result<Response, Problem> {
    let lane = lookup::find_conversation(&state, &caller, &id).await?.lane;
    let start = StreamStart::from_request(&headers, &given)?;
    let events = Box::pin(start.open(&state, lane, None)).await?;
    Ok(events.into_response())
}

/// `GET /v1/runs/{run_id}/stream`: ends with the run.
pub(crate) async fn stream_run(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
    ApiQuery(given): ApiQuery<StreamParameters>,
) -> Result<Response, Problem> {
    let run = lookup::find_run(&state, &caller, &id).await?;
    let start = StreamStart::from_request(&headers, &given)?;
    let is_over = run.cause.is_some();
    let mut events = Box::pin(start.open(&state, run.lane, Some(run.run))).await?;
    if is_over {
        events.read_recorded().await?;
        if events.ready.is_empty() {
            // Tells a reader that has everything not to connect again.
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    Ok(events.into_response())
}

/// Where a stream begins.
struct StreamStart {
    after: LogPosition,
    options: MessageOptions,
}

impl StreamStart {
    fn from_request(headers: &HeaderMap, given: &StreamParameters) -> Result<Self, Problem> {
        let last = headers.get(LAST_EVENT_ID).map(|id| id.to_str().unwrap_or("not text"));
        let after = match last.filter(|id| !id.is_empty()) {
            Some(id) => parse_position("Last-Event-ID", Some(id))?,
            None => parse_position("after", given.after.as_deref())?,
        };
        let options = MessageOptions {
            partial_messages: given.partial_messages,
            tool_progress: given.partial_messages,
            ..message_options()
        };
        Ok(Self { after, options })
    }

    async fn open(
        self,
        state: &ApiState,
        lane: LaneId,
        run: Option<RunId>,
    ) -> Result<EventStream, Problem> {
        let permit = state.streams.clone().try_acquire_owned().map_err(|_| {
            let detail = "too many streams are open; close some, or use another server";
            Problem::new(ProblemCode::TooManyStreams, detail)
        })?;
        let head = state.windlass.find_conversation(&lane).await?.map_or(0, |found| found.head);
        if self.after.entry > head {
            let detail = "the position lies after the end of the log, so it is one of another \
                          conversation; begin again without it";
            return Err(Problem::invalid(detail));
        }
        let session = state.windlass.session(lane);
        let log = MessageLog::open(&session, self.after, self.options).await?;
        Ok(EventStream {
            log,
            run,
            ready: Vec::new(),
            phase: StreamPhase::Recorded,
            windlass: state.windlass.clone(),
            stop: state.stop.clone(),
            _permit: permit,
        })
    }
}

/// What a stream does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamPhase {
    /// It delivers what the log has.
    Recorded,
    /// It waits for what happens.
    Live,
    /// It ends after what is ready.
    Ending,
}

/// The events of a conversation, or of one run.
struct EventStream {
    log: MessageLog,
    /// The run whose events are wanted; those of all without one.
    run: Option<RunId>,
    /// Encoded events that were not delivered yet.
    ready: Vec<Bytes>,
    phase: StreamPhase,
    windlass: Windlass,
    stop: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl IntoResponse for EventStream {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
            // Proxies would otherwise hold events back.
            (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
        ];
        let events = stream::unfold((self, true), |(mut events, is_first)| async move {
            if is_first {
                return Some((Ok(Bytes::from_static(RETRY.as_bytes())), (events, false)));
            }
            let chunk = events.next_chunk().await?;
            Some((Ok::<_, Infallible>(chunk), (events, false)))
        });
        (headers, Body::from_stream(events)).into_response()
    }
}

impl EventStream {
    /// Returns the next bytes to send; `None` at the end.
    async fn next_chunk(&mut self) -> Option<Bytes> {
        loop {
            if !self.ready.is_empty() {
                return Some(self.ready.drain(..).flatten().collect());
            }
            match self.phase {
                StreamPhase::Ending => return None,
                StreamPhase::Recorded => {
                    if let Err(problem) = self.read_recorded().await {
                        self.fail(&problem);
                    }
                }
                StreamPhase::Live => {
                    if let Some(comment) = self.wait().await {
                        return Some(comment);
                    }
                }
            }
        }
    }

    /// Reads what the log has, until there is an event to deliver.
    async fn read_recorded(&mut self) -> Result<(), Problem> {
        while self.ready.is_empty() && self.phase == StreamPhase::Recorded {
            let items = self.log.read_page(PAGE_ITEMS).await?;
            if items.is_empty() {
                self.phase = StreamPhase::Live;
                self.end_if_over().await;
            }
            for item in items {
                self.add(item);
            }
        }
        Ok(())
    }

    /// Waits for the next item; returns a comment if nothing happens for a while.
    async fn wait(&mut self) -> Option<Bytes> {
        let silence = tokio::time::sleep_until(Instant::now() + HEARTBEAT_INTERVAL);
        tokio::select! {
            // The reader connects again, and continues on another server.
            () = self.stop.cancelled() => self.phase = StreamPhase::Ending,
            item = self.log.next() => match item {
                Ok(item) => self.add(item),
                Err(error) => {
                    tracing::warn!(target: "windlass::server", error = %error, "stream_failed");
                    let detail = "the log cannot be read at the moment; connect again";
                    self.fail(&Problem::new(ProblemCode::StoreUnavailable, detail));
                }
            },
            () = silence => {
                self.end_if_over().await;
                return Some(Bytes::from_static(HEARTBEAT.as_bytes()));
            }
        }
        None
    }

    /// Ends the stream of a run that has ended without being in the log, such as a queued prompt
    /// that was cancelled.
    async fn end_if_over(&mut self) {
        if let Some(run) = &self.run
            && let Ok(found) = self.windlass.find_run(run).await
            && found.is_none_or(|found| found.cause.is_some())
            && !self.is_active(run)
        {
            self.phase = StreamPhase::Ending;
        }
    }

    fn is_active(&self, run: &RunId) -> bool {
        self.log.conversation().run.as_ref().is_some_and(|active| active.id == *run)
    }

    fn fail(&mut self, problem: &Problem) {
        self.ready.push(encode_event(None, "problem", &problem.details()));
        self.phase = StreamPhase::Ending;
    }

    /// Encodes an item that is wanted. After the end of its run a stream of a run ends.
    fn add(&mut self, item: LogItem) {
        if self.phase == StreamPhase::Ending {
            return;
        }
        let is_wanted = |run: Option<&RunId>| self.run.is_none() || self.run.as_ref() == run;
        match item {
            LogItem::Message { position, run, message, .. } if is_wanted(run.as_ref()) => {
                let id = position.to_string();
                self.ready.push(encode_event(Some(&id), "message", &message));
            }
            LogItem::State { position, at, run, state, cause } if is_wanted(Some(&run)) => {
                let event = RunStateEvent {
                    run_id: run.to_string(),
                    state: state_name(state),
                    stop_cause: cause.map(|cause| cause.as_str()),
                    at: format_iso_time(at),
                };
                self.ready.push(encode_event(Some(&position.to_string()), "state", &event));
                if cause.is_some() && self.run.is_some() {
                    self.phase = StreamPhase::Ending;
                }
            }
            LogItem::Live(message) => {
                let active = self.log.conversation().run.as_ref().map(|run| &run.id);
                if is_wanted(active) {
                    self.ready.push(encode_event(None, "message", &message));
                }
            }
            LogItem::Message { .. } | LogItem::State { .. } => {}
        }
    }
}
