//! A session with one server over HTTP.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use windlass_runtime::ports::{BoxFuture, Clock};

use super::event_stream::{EventStream, ResumePoint, StreamItem};
use super::http_port::{HttpRequest, HttpResponse, HttpTransport};
use super::request_headers::SessionHeaders;
use super::{HttpEndpoint, Rejection};
use crate::connection::{McpConnection, McpError};
use crate::plain_text::plain_text;
use crate::server_inbox::{ServerAnswer, ServerInbox};

/// Length of an answer that is not a stream, in bytes.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Length of the part of an error page that is shown, in characters.
const MAX_ERROR_CHARS: usize = 300;

/// Number of attempts to resume a stream that bring nothing.
const MAX_IDLE_RESUMES: u32 = 5;

/// Number of redirects that are followed.
const MAX_REDIRECTS: u32 = 3;

/// Number of times that a request is sent with another credential.
const MAX_CREDENTIALS: u32 = 3;

/// A session with one server.
pub(super) struct HttpConnection {
    session: Arc<HttpSession>,
    listener: Mutex<Option<AbortHandle>>,
}

/// What the requests of a session share.
struct HttpSession {
    endpoint: HttpEndpoint,
    headers: Vec<(String, String)>,
    state: SessionHeaders,
    transport: Arc<dyn HttpTransport>,
    clock: Arc<dyn Clock>,
    inbox: Arc<ServerInbox>,
    lost: watch::Sender<Option<McpError>>,
}

impl HttpConnection {
    pub(super) fn new(
        endpoint: HttpEndpoint,
        headers: Vec<(String, String)>,
        (transport, clock): (Arc<dyn HttpTransport>, Arc<dyn Clock>),
        inbox: Arc<ServerInbox>,
    ) -> Self {
        let (state, lost) = (SessionHeaders::default(), watch::Sender::new(None));
        let session = HttpSession { endpoint, headers, state, transport, clock, inbox, lost };
        Self { session: Arc::new(session), listener: Mutex::default() }
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.lock().take() {
            listener.abort();
        }
    }
}

impl McpConnection for HttpConnection {
    fn exchange(&self, message: Value) -> BoxFuture<'_, Result<Value, McpError>> {
        let Some(id) = message.get("id").and_then(Value::as_u64) else {
            return Box::pin(async move { self.session.post(&message).await.map(|_| Value::Null) });
        };
        Box::pin(async move {
            let is_handshake = message.get("method") == Some(&json!("initialize"));
            let session = (!is_handshake).then(|| Arc::clone(&self.session));
            let withdrawal = Withdrawal { id, session };
            let answer = self.session.request(id, &message).await;
            withdrawal.disarm();
            answer
        })
    }

    fn on_initialized(&self, protocol_version: &str) {
        self.session.state.set_protocol_version(protocol_version);
        let session = Arc::clone(&self.session);
        let listener = tokio::spawn(async move { session.listen().await }).abort_handle();
        *self.listener.lock() = Some(listener);
    }

    fn wait_until_lost(&self) -> BoxFuture<'_, McpError> {
        let mut lost = self.session.lost.subscribe();
        Box::pin(async move {
            let ended = McpError::ConnectionLost("the connection was closed".to_owned());
            match lost.wait_for(Option::is_some).await {
                Ok(why) => why.clone().unwrap_or(ended),
                Err(_) => ended,
            }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        if let Some(listener) = self.listener.lock().take() {
            listener.abort();
        }
        Box::pin(async move {
            if self.session.state.has_session() {
                // A server that keeps the session ends it by itself some day.
                drop(self.session.send("DELETE", &[], Vec::new()).await);
            }
        })
    }
}

/// Tells the server that nobody waits for a request any more, if the wait ends early. Closing the
/// connection alone does not say so.
struct Withdrawal {
    id: u64,
    session: Option<Arc<HttpSession>>,
}

impl Withdrawal {
    fn disarm(mut self) {
        self.session = None;
    }
}

impl Drop for Withdrawal {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            let params = json!({"requestId": self.id, "reason": "cancelled"});
            let message =
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            tokio::spawn(async move { session.post(&message).await.map(drop) });
        }
    }
}

impl HttpSession {
    /// Posts a request and returns its answer.
    async fn request(self: &Arc<Self>, id: u64, message: &Value) -> Result<Value, McpError> {
        let mut response = self.post(message).await?;
        let kind = response.header("content-type").unwrap_or_default().to_owned();
        if kind.starts_with("text/event-stream") {
            let mut resume = ResumePoint::default();
            return self.read_until_answer(response, id, &mut resume).await;
        }
        let body = response.read_body(MAX_ANSWER_BYTES).await.map_err(McpError::ConnectionLost)?;
        let answer: Value = serde_json::from_slice(&body)
            .map_err(|_| McpError::Invalid(format!("{kind} that is not a JSON message")))?;
        match answer.get("id").and_then(Value::as_u64) == Some(id) {
            true => Ok(answer),
            // An error about a request that the server could not read has no id.
            false
                if answer.get("id").is_none_or(Value::is_null) && answer.get("error").is_some() =>
            {
                Ok(answer)
            }
            false => Err(McpError::Invalid("an answer to another request".to_owned())),
        }
    }

    /// Reads a stream, and its continuations, until the answer to a request comes.
    async fn read_until_answer(
        self: &Arc<Self>,
        response: HttpResponse,
        id: u64,
        resume: &mut ResumePoint,
    ) -> Result<Value, McpError> {
        let mut stream = EventStream::new(response.body);
        let mut idle = 0;
        loop {
            match stream.next(resume).await {
                StreamItem::Message(text) => {
                    idle = 0;
                    if let Some(answer) = self.take_message(&text, Some(id)).await {
                        return Ok(answer);
                    }
                }
                StreamItem::Broken(why) => return Err(McpError::ConnectionLost(why)),
                StreamItem::Ended => {
                    stream = self.resume(resume, &mut idle).await?;
                }
            }
        }
    }

    /// Continues a stream that has ended, after its last event.
    async fn resume(&self, resume: &ResumePoint, idle: &mut u32) -> Result<EventStream, McpError> {
        let Some(last) = resume.last_event_id.clone() else {
            let why = "the stream ended before the answer".to_owned();
            return Err(McpError::ConnectionLost(why));
        };
        loop {
            *idle += 1;
            if *idle > MAX_IDLE_RESUMES {
                let why = "the stream ended, and resuming it brought nothing".to_owned();
                return Err(McpError::ConnectionLost(why));
            }
            self.clock.sleep(resume.delay_ms()).await;
            let headers = [("Last-Event-ID", last.as_str()), ("Accept", "text/event-stream")];
            match self.send("GET", &headers, Vec::new()).await {
                Ok(response) if response.status == 200 => {
                    return Ok(EventStream::new(response.body));
                }
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Reads what the server sends outside of answers, as long as the session lives. A server that
    /// offers no such stream says 405.
    async fn listen(self: Arc<Self>) {
        let mut resume = ResumePoint::default();
        let mut idle = 0;
        while idle <= MAX_IDLE_RESUMES {
            let mut headers = vec![("Accept", "text/event-stream")];
            let last = resume.last_event_id.clone();
            headers.extend(last.as_deref().map(|last| ("Last-Event-ID", last)));
            match self.send("GET", &headers, Vec::new()).await {
                Ok(response) if response.status == 200 => {
                    let mut stream = EventStream::new(response.body);
                    while let StreamItem::Message(text) = stream.next(&mut resume).await {
                        idle = 0;
                        self.take_message(&text, None).await;
                    }
                }
                Ok(response) if (400..500).contains(&response.status) => return,
                Ok(_) | Err(_) => {}
            }
            idle += 1;
            self.clock.sleep(resume.delay_ms()).await;
        }
    }

    /// Handles one message of a stream; returns the answer that is waited for.
    async fn take_message(self: &Arc<Self>, text: &str, wanted: Option<u64>) -> Option<Value> {
        let message: Value = serde_json::from_str(text).ok()?;
        let id = message.get("id").filter(|id| !id.is_null());
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(method), Some(id)) => {
                // A server whose request cannot be answered notices it by itself.
                match self.inbox.respond(&message, (id, method), wanted) {
                    ServerAnswer::Now(answer) => drop(Box::pin(self.post(&answer)).await),
                    ServerAnswer::Later(answer) => {
                        let session = Arc::clone(self);
                        tokio::spawn(async move {
                            let answer = answer.await;
                            session.post(&answer).await.map(drop)
                        });
                    }
                }
            }
            (Some(method), None) => {
                self.inbox.on_notification(method, message.get("params").unwrap_or(&Value::Null));
            }
            (None, Some(id)) if wanted.is_some() && id.as_u64() == wanted => return Some(message),
            (None, _) => {}
        }
        None
    }

    /// Posts a message and returns the response if the server accepts it.
    async fn post(&self, message: &Value) -> Result<HttpResponse, McpError> {
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        let response = self.send("POST", &headers, message.to_string().into_bytes()).await?;
        if let Some(id) = response.header("mcp-session-id") {
            self.state.set_session_id(id);
        }
        match response.status {
            200..=299 => Ok(response),
            404 if self.state.has_session() => {
                self.lost.send_replace(Some(McpError::SessionExpired));
                Err(McpError::SessionExpired)
            }
            _ => Err(rejected_error(response, message).await),
        }
    }

    /// Sends a request with the headers of the session, following redirects within the server and
    /// trying other credentials if one is rejected.
    async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<HttpResponse, McpError> {
        let mut url = self.endpoint.url.clone();
        let (mut redirects, mut credentials) = (0, 0);
        loop {
            let token = match &self.endpoint.authorization {
                Some(authorization) => authorization.access_token().await?,
                None => None,
            };
            let mut all: Vec<_> = headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            all.extend(self.state.to_headers());
            all.extend(self.headers.iter().cloned());
            all.extend(
                token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))),
            );
            let request = HttpRequest {
                method: method.to_owned(),
                url: url.clone(),
                headers: all,
                body: body.clone(),
            };
            let response =
                self.transport.send(request).await.map_err(|error| match error.is_unsent {
                    true => McpError::Unreachable(error.message),
                    false => McpError::ConnectionLost(error.message),
                })?;
            match response.status {
                307 | 308 if redirects < MAX_REDIRECTS => {
                    redirects += 1;
                    url = redirect_target(&url, &response)?;
                }
                401 | 403 if credentials < MAX_CREDENTIALS => {
                    credentials += 1;
                    if !self.get_other_credential(&response, token).await? {
                        return Ok(response);
                    }
                }
                _ => return Ok(response),
            }
        }
    }

    async fn get_other_credential(
        &self,
        response: &HttpResponse,
        token: Option<String>,
    ) -> Result<bool, McpError> {
        let Some(authorization) = &self.endpoint.authorization else { return Ok(false) };
        let challenge = response.header("www-authenticate").unwrap_or_default().to_owned();
        authorization.on_rejected(Rejection { status: response.status, challenge, token }).await
    }
}

/// A redirect may only change the path: the headers have credentials for this server alone.
fn redirect_target(from: &str, response: &HttpResponse) -> Result<String, McpError> {
    let to = response.header("location").unwrap_or_default();
    let origin = from.find("://").map_or(0, |at| at + 3);
    let origin =
        from.get(origin..).and_then(|rest| rest.find('/')).map_or(from.len(), |at| at + origin);
    let (origin, _) = from.split_at(origin);
    if to.starts_with('/') && !to.starts_with("//") {
        return Ok(format!("{origin}{to}"));
    }
    if to.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/')) {
        return Ok(to.to_owned());
    }
    let to = plain_text(to, MAX_ERROR_CHARS);
    Err(McpError::Misconfigured(format!(
        "the server redirects to `{to}`; if that is right, configure it with this URL"
    )))
}

async fn rejected_error(mut response: HttpResponse, message: &Value) -> McpError {
    let status = response.status;
    let body = response.read_body(MAX_ANSWER_BYTES).await.unwrap_or_default();
    if status == 401 || status == 403 {
        return McpError::NeedsLogin(format!("it answered with HTTP {status}"));
    }
    // A JSON-RPC error says more than the status.
    if let Ok(answer) = serde_json::from_slice::<Value>(&body)
        && let Some(error) = answer.get("error").filter(|error| error.is_object())
    {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        let text = error.get("message").and_then(Value::as_str).unwrap_or("unknown error");
        return McpError::Refused { code, message: plain_text(text, MAX_ERROR_CHARS) };
    }
    if matches!(status, 404 | 405) && message.get("method") == Some(&json!("initialize")) {
        return McpError::Misconfigured(format!(
            "it answered with HTTP {status}; check the URL. A server that only offers the old SSE \
             transport is not supported: use its streamable HTTP address, often /mcp"
        ));
    }
    let text = plain_text(&String::from_utf8_lossy(&body), MAX_ERROR_CHARS);
    match status {
        500..=599 => McpError::ConnectionLost(format!("it answered with HTTP {status}: {text}")),
        _ => McpError::Refused {
            code: i64::from(status),
            message: format!("the server answered with HTTP {status}: {text}"),
        },
    }
}
