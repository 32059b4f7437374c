//! Who may send a request: checks before any handler sees it. A page of another site, a rebound
//! name and a program without the token get nothing, whatever they ask for.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, Uri, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::ServerConfig;
use crate::body;
use crate::caller::{Caller, required_scope};
use crate::config::{MAX_BODY_BYTES, REQUEST_TIMEOUT};
use crate::dashboard::is_dashboard_path;
use crate::files::MAX_UPLOAD_BYTES;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;

#[cfg(test)]
#[path = "access_tests.rs"]
mod access_tests;

/// Tells a server how a request of a browser came about.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Names of query parameters in which other services accept tokens.
const TOKEN_PARAMETERS: [&str; 5] = ["token", "access_token", "api_key", "apikey", "authorization"];

/// The path that says that the server is alive. It needs no token, and neither do the files of the
/// dashboard, which hold no data.
pub(crate) const LIVENESS_PATH: &str = "/healthz";

/// The path that takes larger bodies than others.
pub(crate) const UPLOAD_PATH: &str = "/v1/files";

/// What a request must bring to be let in.
#[derive(Debug)]
pub(crate) struct AccessRules {
    /// The values of `Host` by which clients may address this server, in lower case.
    hosts: BTreeSet<String>,
}

impl AccessRules {
    /// The rules of a server that listens on `address`.
    pub(crate) fn new(config: &ServerConfig, address: SocketAddr) -> Self {
        let mut hosts = BTreeSet::new();
        let port = address.port();
        let default_port = if config.tls.is_some() { 443 } else { 80 };
        let mut add = |name: &str| {
            hosts.insert(format!("{name}:{port}"));
            if port == default_port {
                hosts.insert(name.to_owned());
            }
        };
        ["127.0.0.1", "localhost", "[::1]"].into_iter().for_each(&mut add);
        match address.ip() {
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => add(&ip.to_string()),
            IpAddr::V6(ip) => add(&format!("[{ip}]")),
        }
        for name in &config.allowed_hosts {
            let name = name.to_ascii_lowercase();
            // A name stands for itself, behind a proxy, and for this server's own port.
            hosts.insert(format!("{name}:{port}"));
            hosts.insert(name);
        }
        Self { hosts }
    }

    /// Checks what a request says of itself, before who sends it and its body.
    fn check(&self, head: &RequestHead<'_>) -> Result<(), Problem> {
        self.check_host(head)?;
        self.check_origin(head)?;
        check_query(head.uri)
    }

    /// A name that an attacker controls may resolve to this machine (DNS rebinding); the browser
    /// then still sends that name.
    fn check_host(&self, head: &RequestHead<'_>) -> Result<(), Problem> {
        let refused = || {
            let detail = "the Host header names a host that this server does not know; start it \
                          with --allowed-host HOST";
            Problem::new(ProblemCode::HostNotAllowed, detail)
        };
        let host = single_value(head.headers, &header::HOST).ok_or_else(refused)?;
        let target = head.uri.authority().map(|authority| authority.as_str());
        let is_known = |host: &str| self.hosts.contains(&host.to_ascii_lowercase());
        match is_known(host) && target.is_none_or(is_known) {
            true => Ok(()),
            false => Err(refused()),
        }
    }

    /// A page of another site may send requests, but not without saying so.
    fn check_origin(&self, head: &RequestHead<'_>) -> Result<(), Problem> {
        let refused = |detail: &str| Err(Problem::new(ProblemCode::OriginNotAllowed, detail));
        let mut origins = head.headers.get_all(header::ORIGIN).iter();
        let origin = origins.next();
        let is_own = origin.is_none_or(|origin| {
            let origin = origin.to_str().unwrap_or_default();
            let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
            host.is_some_and(|host| self.hosts.contains(&host.to_ascii_lowercase()))
        });
        if !is_own || origins.next().is_some() {
            return refused("requests from pages of other sites are refused");
        }
        let site = head.headers.get(SEC_FETCH_SITE).map(|site| site.as_bytes());
        if !matches!(site, None | Some(b"same-origin" | b"none")) {
            return refused("requests from pages of other sites are refused");
        }
        // Cookies are sent by whatever page a browser shows. This server sets none and reads none.
        let changes = head.method != Method::GET && head.method != Method::HEAD;
        if changes && origin.is_none() && head.headers.contains_key(header::COOKIE) {
            return refused("a request with cookies needs an Origin header; send no cookies");
        }
        Ok(())
    }
}

/// What a request says before its body.
pub(crate) struct RequestHead<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) version: Version,
    pub(crate) headers: &'a HeaderMap,
}

/// The value of a header that may be given once.
fn single_value<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.to_str().ok()).flatten()
}

/// The token that a request presents.
fn presented_token(headers: &HeaderMap) -> Option<&str> {
    single_value(headers, &header::AUTHORIZATION).and_then(bearer_token)
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Addresses end up in logs, histories and referrers, so a token in one counts as leaked.
fn check_query(uri: &Uri) -> Result<(), Problem> {
    let names = uri.query().unwrap_or_default().split('&');
    let mut names = names.map(|pair| pair.split('=').next().unwrap_or_default());
    let is_token = |name: &str| TOKEN_PARAMETERS.iter().any(|it| name.eq_ignore_ascii_case(it));
    match names.any(is_token) {
        true => Err(Problem::new(
            ProblemCode::TokenInUrl,
            "a token in an address is leaked by logs; send it in the header `Authorization: \
             Bearer TOKEN`, and replace it if it was a real one",
        )),
        false => Ok(()),
    }
}

/// A body must be JSON, which no form of a foreign page can send, and have a length, so that no
/// proxy can disagree about where it ends.
fn check_body_headers(head: &RequestHead<'_>) -> Result<(), Problem> {
    if head.headers.contains_key(header::TRANSFER_ENCODING) || head.version < Version::HTTP_11 {
        let detail = "send the body with a Content-Length header, over HTTP/1.1";
        return Err(Problem::new(ProblemCode::LengthRequired, detail));
    }
    let length = single_value(head.headers, &header::CONTENT_LENGTH);
    if length.is_none_or(|length| length == "0") {
        return Ok(());
    }
    let limit = body_limit(head.uri.path());
    let is_too_large = |length: &str| length.parse().is_ok_and(|bytes: u64| bytes > limit as u64);
    if length.is_some_and(is_too_large) {
        return Err(body::body_too_large(limit));
    }
    let media_type = single_value(head.headers, &header::CONTENT_TYPE).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    match media_type.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Problem::new(
            ProblemCode::UnsupportedMediaType,
            "send the body as JSON with the header `Content-Type: application/json`",
        )),
    }
}

/// The largest body of a request to a resource.
fn body_limit(path: &str) -> usize {
    if path == UPLOAD_PATH { MAX_UPLOAD_BYTES } else { MAX_BODY_BYTES }
}

/// Lets a request through, or answers it with a problem.
pub(crate) async fn guard_request(
    State(state): State<ApiState>,
    mut request: Request,
    next: Next,
) -> Response {
    let head = RequestHead {
        method: request.method(),
        uri: request.uri(),
        version: request.version(),
        headers: request.headers(),
    };
    match admit(&state, &head).await {
        Ok(caller) => request.extensions_mut().extend(caller_extension(caller)),
        Err(problem) => return refuse(problem),
    }
    match tokio::time::timeout(REQUEST_TIMEOUT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => refuse(Problem::new(
            ProblemCode::Timeout,
            "the request was not complete in time; send it again",
        )),
    }
}

fn caller_extension(caller: Option<Caller>) -> axum::http::Extensions {
    let mut extensions = axum::http::Extensions::new();
    if let Some(caller) = caller {
        extensions.insert(caller);
    }
    extensions
}

/// Checks everything but the body of a request; returns who sends it, if that matters.
async fn admit(state: &ApiState, head: &RequestHead<'_>) -> Result<Option<Caller>, Problem> {
    state.access.check(head)?;
    let path = head.uri.path();
    let mut caller = None;
    if path != LIVENESS_PATH && !is_dashboard_path(path) {
        let Some(presented) = presented_token(head.headers) else {
            let detail = "send a token in the header `Authorization: Bearer TOKEN`";
            return Err(state.authenticator.refusal(detail));
        };
        let store = state.windlass.store();
        let known = state.authenticator.authenticate(store, presented).await?;
        known.check_scope(required_scope(head.method, path))?;
        caller = Some(known);
    }
    check_body_headers(head)?;
    Ok(caller)
}

/// The response to a request that is not handled. Its body was not read, so the connection cannot
/// be used again.
fn refuse(problem: Problem) -> Response {
    let mut response = problem.into_response();
    let close = header::HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}
