//! Receives the answer of an authorization server at a loopback address.

use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::OAuthError;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// How long a connection may take to send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Length of a request, in bytes.
const MAX_REQUEST_BYTES: usize = 16 << 10;

/// Number of requests that are answered: browsers ask for more than the page.
const MAX_REQUESTS: usize = 100;

/// The path that the browser returns to.
const CALLBACK_PATH: &str = "/callback";

/// What the person sees.
const DONE_PAGE: &str = "The login is complete. You can close this page.";
const FAILED_PAGE: &str = "The login failed; the terminal says why. You can close this page.";

/// The loopback address that the browser returns to.
pub(super) struct Loopback {
    listener: TcpListener,
    redirect_uri: String,
}

/// The answer of an authorization server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Callback {
    pub(super) code: Option<String>,
    pub(super) state: Option<String>,
    pub(super) issuer: Option<String>,
    pub(super) error: Option<String>,
    pub(super) error_description: Option<String>,
}

impl Loopback {
    /// Listens at a port, or at any free one.
    pub(super) async fn listen(port: Option<u16>) -> Result<Self, OAuthError> {
        let failed = |error: std::io::Error| {
            let port = port.unwrap_or_default();
            OAuthError::NotCompleted(format!(
                "cannot listen at port {port} of this machine: {error}; choose another with \
                 `oauth.callbackPort`"
            ))
        };
        let listener =
            TcpListener::bind(("127.0.0.1", port.unwrap_or_default())).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let redirect_uri = format!("http://localhost:{port}{CALLBACK_PATH}");
        Ok(Self { listener, redirect_uri })
    }

    pub(super) fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    /// Waits for the answer to the request with this state. Requests with another state are not the
    /// answer, whoever sends them.
    pub(super) async fn wait_for_answer(self, state: &str) -> Result<Callback, OAuthError> {
        let answered = async {
            for _ in 0..MAX_REQUESTS {
                let Ok((stream, _)) = self.listener.accept().await else { continue };
                let read = tokio::time::timeout(REQUEST_TIMEOUT, answer_request(stream, state));
                if let Ok(Some(callback)) = read.await {
                    return Some(callback);
                }
            }
            None
        };
        let late = || OAuthError::NotCompleted("the login was not completed in time".to_owned());
        tokio::time::timeout(PATIENCE, answered).await.ok().flatten().ok_or_else(late)
    }
}

/// Reads one request, and answers it with a page.
async fn answer_request(mut stream: TcpStream, state: &str) -> Option<Callback> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if request.len() > MAX_REQUEST_BYTES || stream.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
    }
    let request = String::from_utf8_lossy(&request);
    let target = request.strip_prefix("GET ")?.split(' ').next()?;
    let callback = target
        .split_once('?')
        .filter(|(path, _)| *path == CALLBACK_PATH)
        .map(|(_, query)| parse_query(query))
        .filter(|callback| callback.state.as_deref() == Some(state));
    let (status, page) = match &callback {
        Some(callback) if callback.code.is_some() => ("200 OK", DONE_PAGE),
        Some(_) => ("200 OK", FAILED_PAGE),
        None => ("404 Not Found", "There is nothing here."),
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    // A browser that does not wait for its page has brought the code all the same.
    drop(stream.write_all(answer.as_bytes()).await);
    drop(stream.shutdown().await);
    callback
}

pub(super) fn parse_query(query: &str) -> Callback {
    let mut callback = Callback::default();
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        let value = value.replace('+', " ");
        let value = percent_decode_str(&value).decode_utf8_lossy().into_owned();
        match name {
            "code" => callback.code = Some(value),
            "state" => callback.state = Some(value),
            "iss" => callback.issuer = Some(value),
            "error" => callback.error = Some(value),
            "error_description" => callback.error_description = Some(value),
            _ => {}
        }
    }
    callback
}
