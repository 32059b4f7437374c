//! One attempt at a model call: waits for a rate limit permit, sends the request, and reads the
//! response.

use bytes::Bytes;
use windlass_core::message::raw_json::RawJson;
use windlass_runtime::ports::ReplyObserver;

use crate::call::call_notice::CallNotice;
use crate::call::call_options::{CallDeadlines, ReplyDelivery};
use crate::call::call_timer::CallTimer;
use crate::call::rate_limiter::{CallOutcome, CallPermit, RateGate, RateLimitHeaders};
use crate::call::raw_response::RawResponse;
use crate::error::call_error::CallError;
use crate::error::error_response;
use crate::http::{HttpClient, HttpResponse, PostRequest, SharedBody};
use crate::limits::{MAX_ERROR_BODY_BYTES, MAX_REPLY_BYTES};
use crate::wire::decode_context::DecodeContext;
use crate::wire::wire_protocol::{DecodeProgress, DecodedReply, ReplyStreamDecoder, WireProtocol};

/// The parts that an attempt needs.
pub(crate) struct CallAttempt<'a> {
    pub(crate) wire: &'a dyn WireProtocol,
    pub(crate) client: &'a HttpClient,
    pub(crate) gate: &'a std::sync::Arc<RateGate>,
    pub(crate) clock: &'a dyn windlass_runtime::ports::Clock,
    pub(crate) target: &'a crate::http::ApiTarget,
    pub(crate) headers: &'a http::HeaderMap,
    pub(crate) path: &'a http::Uri,
    pub(crate) deadlines: CallDeadlines,
}

/// An attempt that failed.
#[derive(Debug)]
pub(crate) struct FailedAttempt {
    pub(crate) fault: CallError,
    pub(crate) has_started: bool,
    /// The part of the response that arrived before the failure.
    pub(crate) raw_response: RawResponse,
}

/// An attempt that returned a reply.
#[derive(Debug)]
pub(crate) struct CompletedAttempt {
    pub(crate) decoded: DecodedReply,
    /// The raw response.
    pub(crate) raw_response: RawResponse,
}

impl From<CallError> for FailedAttempt {
    fn from(fault: CallError) -> Self {
        Self { fault, has_started: false, raw_response: RawResponse::default() }
    }
}

impl CallAttempt<'_> {
    /// Sends the request and waits for the whole reply.
    pub(crate) async fn run(
        &self,
        body: Vec<Bytes>,
        context: DecodeContext,
        delivery: ReplyDelivery,
        stream: &dyn ReplyObserver,
    ) -> Result<CompletedAttempt, FailedAttempt> {
        let pass = self.gate.acquire(context.estimate_usage(0).input_tokens).await?;
        let mut watch = CallTimer::new(self.clock, self.deadlines);
        let mut raw_response = RawResponse::default();
        let reading = BodyReader { timer: &mut watch, raw_response: &mut raw_response };
        let closed = self.read_reply(body, context, delivery, (&pass, reading), stream).await;
        pass.record_outcome(rate_limit_outcome(&closed));
        match closed {
            Ok(decoded) => Ok(CompletedAttempt { decoded, raw_response }),
            Err((fault, has_started)) => Err(FailedAttempt { fault, has_started, raw_response }),
        }
    }

    /// Sends a request whose response is not a reply, such as a token count, and returns the body.
    pub(crate) async fn fetch_text(&self, body: Vec<Bytes>) -> Result<String, FailedAttempt> {
        let pass = self.gate.acquire(0).await?;
        let mut watch = CallTimer::new(self.clock, self.deadlines);
        let mut received = RawResponse::default();
        let mut reading = BodyReader { timer: &mut watch, raw_response: &mut received };
        let answer = self.send_request(body, &pass, &mut reading).await?;
        Ok(reading.read_to_end(answer, MAX_REPLY_BYTES).await?)
    }

    async fn send_request(
        &self,
        body: Vec<Bytes>,
        pass: &CallPermit,
        reading: &mut BodyReader<'_, '_>,
    ) -> Result<HttpResponse<'_>, CallError> {
        let (target, path, headers) = (self.target, self.path, self.headers);
        let connect_ms = self.deadlines.connect_ms;
        let post = PostRequest { target, path, headers, body: SharedBody::new(body), connect_ms };
        let answer = reading.timer.run_until_deadline(self.client.post(post)).await??;
        pass.record_headers(&RateLimitHeaders::parse(&answer.headers, self.clock.now()));
        if !(200..300).contains(&answer.status) {
            let (status, headers) = (answer.status, answer.headers.clone());
            let body = reading.read_to_end(answer, MAX_ERROR_BODY_BYTES).await.unwrap_or_default();
            return Err(error_response::status_error(status, &headers, &body, self.clock.now()));
        }
        Ok(answer)
    }

    async fn read_reply(
        &self,
        body: Vec<Bytes>,
        context: DecodeContext,
        delivery: ReplyDelivery,
        (pass, mut reading): (&CallPermit, BodyReader<'_, '_>),
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, (CallError, bool)> {
        let not_begun = |fault| (fault, false);
        let answer = self.send_request(body, pass, &mut reading).await.map_err(not_begun)?;
        let request_id = request_id(&answer);
        let mut closed = if delivery == ReplyDelivery::Streamed && !is_json_response(&answer) {
            self.read_stream(answer, context, reading, stream).await?
        } else {
            self.read_whole_reply(answer, context, reading, stream).await.map_err(not_begun)?
        };
        if let Some(id) = request_id {
            closed.envelope.insert_json("request_id", RawJson::string(&id));
        }
        Ok(closed)
    }

    async fn read_stream(
        &self,
        mut answer: HttpResponse<'_>,
        context: DecodeContext,
        reading: BodyReader<'_, '_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, (CallError, bool)> {
        let mut decoding = ReplyStreamDecoder::new(self.wire.new_decoder(context));
        let mut first = true;
        let mut progress = DecodeProgress::Keepalive;
        while !matches!(progress, DecodeProgress::Done | DecodeProgress::StopReading) {
            let failed = |fault, decoding: &ReplyStreamDecoder| (fault, decoding.has_started());
            let piece = reading
                .timer
                .run_until_deadline(answer.next_chunk())
                .await
                .map_err(|f| failed(f, &decoding))?;
            let Some(piece) = piece else { break };
            let chunk = piece.map_err(|fault| failed(fault, &decoding))?;
            reading.raw_response.push(&chunk);
            if std::mem::take(&mut first) && error_response::is_markup(&chunk) {
                return Err((error_response::not_a_model_error(&lossy_text(&chunk)), false));
            }
            progress = decoding.push(&chunk, stream).map_err(|fault| failed(fault, &decoding))?;
            if progress == DecodeProgress::Content {
                reading.timer.reset_idle();
            }
        }
        if progress != DecodeProgress::StopReading {
            answer.finish().await;
        }
        let begun = decoding.has_started();
        decoding.finish(stream).map_err(|fault| (fault, begun))
    }

    async fn read_whole_reply(
        &self,
        answer: HttpResponse<'_>,
        context: DecodeContext,
        mut reading: BodyReader<'_, '_>,
        stream: &dyn ReplyObserver,
    ) -> Result<DecodedReply, CallError> {
        let body = reading.read_to_end(answer, MAX_REPLY_BYTES).await?;
        if error_response::is_markup(body.as_bytes()) {
            return Err(error_response::not_a_model_error(&body));
        }
        let mut closed = self.wire.decode_whole(&body, context, stream)?;
        closed.envelope.add_notice(CallNotice::NotStreamed);
        Ok(closed)
    }
}

/// A response body being read, with its deadlines and the raw bytes that arrived.
struct BodyReader<'r, 'c> {
    timer: &'r mut CallTimer<'c>,
    raw_response: &'r mut RawResponse,
}

impl BodyReader<'_, '_> {
    /// Reads a body as text, up to a limit: of an error body, what is beyond the limit does not
    /// matter.
    async fn read_to_end(
        &mut self,
        mut answer: HttpResponse<'_>,
        most_bytes: usize,
    ) -> Result<String, CallError> {
        let mut body = Vec::new();
        while let Some(piece) = self.timer.run_until_deadline(answer.next_chunk()).await? {
            let chunk = piece?;
            self.raw_response.push(&chunk);
            body.extend_from_slice(&chunk);
            self.timer.reset_idle();
            if body.len() > most_bytes {
                let is_error = !(200..300).contains(&answer.status);
                return if is_error {
                    Ok(lossy_text(&body))
                } else {
                    Err(CallError::ReplyTooLarge)
                };
            }
        }
        answer.finish().await;
        Ok(lossy_text(&body))
    }
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn is_json_response(answer: &HttpResponse<'_>) -> bool {
    let kind = answer.headers.get(http::header::CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("application/json"))
}

/// The request id that the server assigned.
fn request_id(answer: &HttpResponse<'_>) -> Option<String> {
    let names = ["request-id", "x-request-id"];
    let id = names.iter().find_map(|name| answer.headers.get(*name)?.to_str().ok())?;
    Some(id.to_owned())
}

fn rate_limit_outcome(closed: &Result<DecodedReply, (CallError, bool)>) -> CallOutcome {
    let Err((fault, _)) = closed else { return CallOutcome::Succeeded };
    match fault {
        CallError::HttpStatus { status: 429, retry_after_ms, .. } => {
            CallOutcome::Throttled { retry_after_ms: *retry_after_ms }
        }
        CallError::HttpStatus { status: 500.., retry_after_ms, .. } => {
            CallOutcome::Overloaded { retry_after_ms: *retry_after_ms }
        }
        CallError::ErrorEvent { status: 429, .. } => {
            CallOutcome::Throttled { retry_after_ms: None }
        }
        CallError::ErrorEvent { status: 500.., .. }
        | CallError::Unreachable(_)
        | CallError::ServerNotRunning(_)
        | CallError::ConnectTimeout(_)
        | CallError::IdleTimeout(_) => CallOutcome::Overloaded { retry_after_ms: None },
        _ => CallOutcome::Succeeded,
    }
}
