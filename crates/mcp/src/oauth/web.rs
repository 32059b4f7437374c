//! Requests to authorization servers: JSON and forms, of bounded size, to addresses that are safe.

use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::OAuthError;
use crate::http::{HttpRequest, HttpTransport};
use crate::plain_text::plain_text;

/// Length of a document, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Number of redirects of a document that are followed.
const MAX_REDIRECTS: u32 = 3;

/// What stays as it is in a form.
const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// An answer with its status.
pub(super) struct WebAnswer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl WebAnswer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Sends requests.
#[derive(Clone)]
pub(super) struct Web(pub(super) Arc<dyn HttpTransport>);

impl Web {
    /// Reads a JSON document; `None` if there is none at this address.
    pub(super) async fn find_json(&self, url: &str) -> Result<Option<Value>, OAuthError> {
        let mut url = url.to_owned();
        for _ in 0..=MAX_REDIRECTS {
            let accept = vec![("Accept".to_owned(), "application/json".to_owned())];
            let answer = self.send("GET", &url, accept, Vec::new()).await?;
            match (answer.status, answer.header("location")) {
                (200..=299, _) => return Ok(answer.json()),
                (300..=399, Some(to)) => url = to.to_owned(),
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Posts a form.
    pub(super) async fn post_form(
        &self,
        url: &str,
        fields: &[(&str, &str)],
        mut headers: Vec<(String, String)>,
    ) -> Result<WebAnswer, OAuthError> {
        headers.push(("Accept".to_owned(), "application/json".to_owned()));
        let kind = "application/x-www-form-urlencoded".to_owned();
        headers.push(("Content-Type".to_owned(), kind));
        self.send("POST", url, headers, encode_form(fields).into_bytes()).await
    }

    /// Posts a JSON document.
    pub(super) async fn post_json(&self, url: &str, body: &Value) -> Result<WebAnswer, OAuthError> {
        let json = "application/json".to_owned();
        let headers = vec![("Accept".to_owned(), json.clone()), ("Content-Type".to_owned(), json)];
        self.send("POST", url, headers, body.to_string().into_bytes()).await
    }

    async fn send(
        &self,
        method: &str,
        url: &str,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    ) -> Result<WebAnswer, OAuthError> {
        check_url(url)?;
        let method = method.to_owned();
        let request = HttpRequest { method, url: url.to_owned(), headers, body };
        let exchange = async {
            let sent = self.0.send(request).await;
            let mut response = sent.map_err(|error| error.to_string())?;
            let body = response.read_body(MAX_BYTES).await?;
            Ok(WebAnswer { status: response.status, headers: response.headers, body })
        };
        let late = || Err(format!("no answer within {} s", TIMEOUT.as_secs()));
        let answer = tokio::time::timeout(TIMEOUT, exchange).await.unwrap_or_else(|_| late());
        answer.map_err(|error| OAuthError::Unreachable(format!("{}: {error}", shown(url))))
    }
}

/// Tokens and codes are only sent where no one can read them on the way: over TLS, or to this
/// machine.
pub(super) fn check_url(url: &str) -> Result<(), OAuthError> {
    let host = url.strip_prefix("http://").map(host_of);
    let is_local = host.is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"));
    match url.starts_with("https://") || is_local {
        true => Ok(()),
        false => Err(OAuthError::Refused(format!(
            "the address {} is neither https nor on this machine; tokens are not sent there",
            shown(url)
        ))),
    }
}

/// The host of what follows the scheme, without port.
fn host_of(rest: &str) -> &str {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return "";
    }
    match authority.strip_prefix('[') {
        Some(_) => authority.split_inclusive(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// A URL as it is shown: without its query, which may have secrets.
pub(super) fn shown(url: &str) -> String {
    plain_text(url.split(['?', '#']).next().unwrap_or_default(), 200)
}

/// Encodes a form, or the query of a URL.
pub(super) fn encode_form(fields: &[(&str, &str)]) -> String {
    let field = |(name, value): &(&str, &str)| format!("{}={}", encode(name), encode(value));
    fields.iter().map(field).collect::<Vec<_>>().join("&")
}

/// Encodes one value.
pub(super) fn encode(value: &str) -> String {
    utf8_percent_encode(value, FORM).to_string()
}

/// Splits a URL into its origin and its path, without query and fragment.
pub(super) fn origin_and_path(url: &str) -> (&str, &str) {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let start = url.find("://").map_or(0, |at| at + 3);
    let slash = url.get(start..).and_then(|rest| rest.find('/'));
    url.split_at(slash.map_or(url.len(), |at| at + start))
}
