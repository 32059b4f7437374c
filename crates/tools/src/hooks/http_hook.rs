//! Hooks that are web services: the payload is the body of a POST, the response is the body of the
//! answer, as a command would print it.

use std::sync::Arc;

use serde_json::{Map, Value};
use windlass_runtime::ports::BoxFuture;

use super::command_runner::{CapturedStream, MAX_STREAM_BYTES};

/// Maximum number of headers of a hook.
const MAX_HEADERS: usize = 50;

/// Sends the requests of hooks.
pub trait HookHttp: Send + Sync + 'static {
    /// Sends a POST and returns the status with at most `max_bytes` of the body. Redirects are not
    /// followed. The caller enforces the timeout by dropping the future.
    fn post(&self, request: HookHttpRequest) -> BoxFuture<'_, Result<HookHttpResponse, String>>;
}

/// A request of a hook.
#[derive(Debug, Clone)]
pub struct HookHttpRequest {
    /// The URL.
    pub url: String,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body: JSON.
    pub body: Vec<u8>,
    /// How much of the answer is read.
    pub max_bytes: usize,
}

/// The answer to a hook.
#[derive(Debug, Clone)]
pub struct HookHttpResponse {
    /// The status code.
    pub status: u16,
    /// The body, as far as it was read.
    pub body: Vec<u8>,
    /// Whether there was more.
    pub is_truncated: bool,
}

/// A hook that is a web service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HttpHook {
    pub(super) url: Arc<str>,
    /// Headers, with references to variables.
    headers: Vec<(String, String)>,
}

impl HttpHook {
    pub(super) fn new(
        url: &str,
        headers: &Map<String, Value>,
        allowed: &[String],
    ) -> Result<Self, String> {
        let is_web = url.starts_with("http://") || url.starts_with("https://");
        if !is_web || url.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return Err("the `url` of a hook must be an http or https address".to_owned());
        }
        if headers.len() > MAX_HEADERS {
            return Err(format!("a hook has more than {MAX_HEADERS} headers"));
        }
        let mut read = Vec::new();
        for (name, value) in headers {
            let Some(value) = value.as_str() else {
                return Err(format!("the header {name} of a hook is not a string"));
            };
            for piece in pieces(value) {
                if let Piece::Variable(variable) = piece
                    && !allowed.iter().any(|known| known == variable)
                {
                    return Err(format!(
                        "the header {name} uses ${variable}; add {variable} to `allowedEnvVars`"
                    ));
                }
            }
            read.push((name.clone(), value.to_owned()));
        }
        Ok(Self { url: Arc::from(url), headers: read })
    }

    /// Sends the payload. `Err` says why the hook counts as failed.
    pub(super) async fn post(
        &self,
        http: Option<&Arc<dyn HookHttp>>,
        input: &Value,
    ) -> Result<CapturedStream, String> {
        let url = &self.url;
        let Some(http) = http else {
            return Err(format!("{url} cannot be called: this program has no HTTP client"));
        };
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        for (name, value) in &self.headers {
            headers.push((name.clone(), expand(value)?));
        }
        let request = HookHttpRequest {
            url: url.to_string(),
            headers,
            body: input.to_string().into_bytes(),
            max_bytes: MAX_STREAM_BYTES,
        };
        let answer =
            http.post(request).await.map_err(|error| format!("{url} did not answer: {error}"))?;
        match answer.status {
            200..=299 => Ok(CapturedStream {
                text: String::from_utf8_lossy(&answer.body).into_owned(),
                is_truncated: answer.is_truncated,
            }),
            status => Err(format!("{url} answered with status {status}")),
        }
    }
}

/// A part of the value of a header.
enum Piece<'a> {
    Text(&'a str),
    Variable(&'a str),
}

/// Splits a value into texts and references: `$NAME` and `${NAME}`.
fn pieces(value: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some((text, after)) = rest.split_once('$') {
        found.push(Piece::Text(text));
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, next) = match braced {
            Some((name, next)) if name.chars().all(is_name) => (name, next),
            _ => after.split_at(after.find(|c| !is_name(c)).unwrap_or(after.len())),
        };
        match name {
            "" => found.push(Piece::Text("$")),
            name => found.push(Piece::Variable(name)),
        }
        rest = next;
    }
    found.push(Piece::Text(rest));
    found
}

/// Replaces references by the values of this process's environment.
fn expand(value: &str) -> Result<String, String> {
    let text = |piece: Piece<'_>| match piece {
        Piece::Text(text) => Ok(text.to_owned()),
        Piece::Variable(name) => {
            std::env::var(name).map_err(|_| format!("needs the variable {name}, which is not set"))
        }
    };
    pieces(value).into_iter().map(text).collect()
}
