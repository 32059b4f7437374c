//! Which request is for whom.

use std::net::IpAddr;

use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName};

use super::asked::Format;
use super::body::quoted;
use super::refusal::Refusal;

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Route {
    Ask(Format),
    CountTokens,
    Models(Catalogue),
    Model(Catalogue, String),
}

/// Whose list of models is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Catalogue {
    Anthropic,
    OpenAi,
}

impl Catalogue {
    /// Both services have their list at the same path; a header tells them apart.
    fn wanted(headers: &HeaderMap) -> Self {
        match headers.contains_key("anthropic-version") {
            true => Self::Anthropic,
            false => Self::OpenAi,
        }
    }
}

/// Finds the route of a request.
pub(super) fn find(method: &Method, path: &str, headers: &HeaderMap) -> Result<Route, Refusal> {
    let wanted = match path {
        "/v1/messages" => (Method::POST, Route::Ask(Format::Messages)),
        "/v1/messages/count_tokens" => (Method::POST, Route::CountTokens),
        "/v1/chat/completions" => (Method::POST, Route::Ask(Format::Chat)),
        "/v1/responses" => (Method::POST, Route::Ask(Format::Responses)),
        "/v1/models" => (Method::GET, Route::Models(Catalogue::wanted(headers))),
        _ => (Method::GET, model(path, headers)?),
    };
    match wanted {
        (expected, route) if *method == expected => Ok(route),
        _ => Err(Refusal::new(405, "Method Not Allowed")),
    }
}

fn model(path: &str, headers: &HeaderMap) -> Result<Route, Refusal> {
    let id = path.strip_prefix("/v1/models/").filter(|id| !id.is_empty());
    let route = id.map(|id| Route::Model(Catalogue::wanted(headers), id.to_owned()));
    route.ok_or_else(|| Refusal::new(404, format!("Not Found: {}", quoted(path))))
}

/// Refuses what a page in somebody's browser sends: its requests name the page they come from, and
/// a page that leads a name of its own here names that as the host.
pub(super) fn check_sender(headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if text(header::HOST).is_some_and(|host| !is_this_machine(host)) {
        return Err(Refusal::new(403, "the Host header names another machine; use 127.0.0.1"));
    }
    let page = text(header::ORIGIN)
        .map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    match page.is_some_and(|host| !is_this_machine(host)) {
        true => Err(Refusal::new(403, "requests from pages of other machines are refused")),
        false => Ok(()),
    }
}

/// Whether a host, perhaps with a port, is this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The format in which a request is refused before anything else is known about it.
pub(super) fn format(path: &str, headers: &HeaderMap) -> Format {
    let anthropic = path.starts_with("/v1/messages") || headers.contains_key("anthropic-version");
    match path {
        _ if anthropic => Format::Messages,
        "/v1/responses" => Format::Responses,
        _ => Format::Chat,
    }
}
