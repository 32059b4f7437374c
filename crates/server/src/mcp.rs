//! `windlass mcp serve` over HTTP: the streamable HTTP transport of MCP, without sessions. The service
//! keeps nothing between requests, so any server answers any of them.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use windlass::ports::{BoxFuture, RunInfo};
use windlass::{DriveError, OpenQuestion};
use windlass_mcp_server::{McpService, Notifications, PROTOCOL_VERSIONS, RunPresenter};

use crate::body::ApiBody;
use crate::caller::{Caller, Scope};
use crate::json::ApiJson;
use crate::presenter::{Presenter, RunReport};
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::sse::{HEARTBEAT, encode_event};
use crate::stream::HEARTBEAT_INTERVAL;

/// The header with the version of the protocol.
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Notifications about one request that wait to be sent.
const QUEUED_NOTIFICATIONS: usize = 64;

/// What one caller sees of the runs.
struct CallerPresenter {
    caller: Caller,
    presenter: Arc<dyn Presenter>,
}

impl RunPresenter for CallerPresenter {
    fn question_text(&self, open: &OpenQuestion) -> String {
        self.presenter.question_text(open)
    }

    fn explain(&self, run: RunInfo) -> BoxFuture<'_, Result<Value, DriveError>> {
        self.presenter.report_run(RunReport::Explain, run)
    }

    fn tenant(&self) -> Arc<str> {
        self.caller.tenant_of_new()
    }

    fn may_see(&self, run: &RunInfo) -> bool {
        self.caller.sees(&run.tenant)
    }
}

/// `POST /mcp`: answers one message, as JSON or as a stream of events.
pub(crate) async fn answer_message(
    State(state): State<ApiState>,
    caller: Caller,
    headers: HeaderMap,
    ApiBody(message): ApiBody<Value>,
) -> Result<Response, Problem> {
    check_version(&headers)?;
    check_tool_scope(&caller, &message)?;
    if message.is_array() {
        return Err(Problem::invalid("batches are not supported; send one message"));
    }
    let is_request = message.get("id").is_some_and(|id| !id.is_null());
    let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
    let presenter = CallerPresenter { caller, presenter: Arc::clone(&state.presenter) };
    let service = McpService::new(state.windlass.clone(), Arc::new(presenter));
    let (sender, notifications) = mpsc::channel(QUEUED_NOTIFICATIONS);
    let sink = Notifications::new(sender);
    if is_request && is_call && accepts_events(&headers) {
        return stream_answer(&state, service, message, (sink, notifications));
    }
    match service.answer(message, &sink).await {
        Some(answer) => Ok(ApiJson(answer).into_response()),
        None => Ok(StatusCode::ACCEPTED.into_response()),
    }
}

fn check_version(headers: &HeaderMap) -> Result<(), Problem> {
    let Some(version) = headers.get(PROTOCOL_VERSION) else { return Ok(()) };
    match PROTOCOL_VERSIONS.iter().any(|known| version.as_bytes() == known.as_bytes()) {
        true => Ok(()),
        false => Err(Problem::invalid(format!(
            "`MCP-Protocol-Version` is none of {}",
            PROTOCOL_VERSIONS.join(", ")
        ))),
    }
}

/// Checks the scope of a tool beyond that of all messages.
fn check_tool_scope(caller: &Caller, message: &Value) -> Result<(), Problem> {
    match message.pointer("/params/name").and_then(Value::as_str) {
        Some("answer_question") => caller.check_scope(Scope::Answer),
        Some("follow_run" | "explain_run") => caller.check_scope(Scope::Read),
        Some(_) | None => Ok(()),
    }
}

fn accepts_events(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.into_iter().any(|value| value.contains("text/event-stream"))
}

/// What a stream of one answer does next.
enum AnswerStep {
    Running(BoxFuture<'static, Option<Value>>),
    Done,
}

/// Streams what is notified about a request, and then its answer.
fn stream_answer(
    state: &ApiState,
    service: McpService,
    message: Value,
    (sink, notifications): (Notifications, mpsc::Receiver<Value>),
) -> Result<Response, Problem> {
    let permit = state.streams.clone().try_acquire_owned().map_err(|_| {
        let detail = "too many streams are open; close some, or use another server";
        Problem::new(ProblemCode::TooManyStreams, detail)
    })?;
    let stop = state.stop.clone();
    // Dropping the stream withdraws the request; what it started goes on.
    let answering: BoxFuture<'static, Option<Value>> =
        Box::pin(async move { service.answer(message, &sink).await });
    let first = (AnswerStep::Running(answering), notifications);
    let events = stream::unfold(first, move |(step, mut notifications)| {
        let _permit = &permit;
        let stop = stop.clone();
        async move {
            let AnswerStep::Running(mut answering) = step else { return None };
            let event = |message: &Value| encode_event(None, "message", message);
            let (chunk, step) = tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                Some(message) = notifications.recv() => {
                    (event(&message), AnswerStep::Running(answering))
                }
                answer = &mut answering => (event(&answer?), AnswerStep::Done),
                () = tokio::time::sleep_until(Instant::now() + HEARTBEAT_INTERVAL) => {
                    (Bytes::from_static(HEARTBEAT.as_bytes()), AnswerStep::Running(answering))
                }
            };
            Some((Ok::<_, Infallible>(chunk), (step, notifications)))
        }
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}
