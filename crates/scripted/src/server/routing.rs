//! Routes requests.

use hyper::Method;
use hyper::header::{self, HeaderMap, HeaderName};
use windlass_providers::is_loopback_host;

use super::parsed_request::ApiFormat;
use super::rejection::RequestRejection;
use super::request_body::truncate_quoted;

/// What a request is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestRoute {
    ModelRequest(ApiFormat),
    CountTokens,
    Models(ModelListFormat),
    Model(ModelListFormat, String),
}

/// Which service's list of models is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelListFormat {
    Anthropic,
    OpenAi,
}

impl ModelListFormat {
    /// Both services have their list at the same path; a header distinguishes them.
    fn from_headers(headers: &HeaderMap) -> Self {
        match headers.contains_key("anthropic-version") {
            true => Self::Anthropic,
            false => Self::OpenAi,
        }
    }
}

/// Finds the route of a request.
pub(super) fn find_route(
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Result<RequestRoute, RequestRejection> {
    let wanted = match path {
        "/v1/messages" => (Method::POST, RequestRoute::ModelRequest(ApiFormat::Messages)),
        "/v1/messages/count_tokens" => (Method::POST, RequestRoute::CountTokens),
        "/v1/chat/completions" => (Method::POST, RequestRoute::ModelRequest(ApiFormat::Chat)),
        "/v1/responses" => (Method::POST, RequestRoute::ModelRequest(ApiFormat::Responses)),
        "/v1/models" => (Method::GET, RequestRoute::Models(ModelListFormat::from_headers(headers))),
        _ => (Method::GET, model_route(path, headers)?),
    };
    match wanted {
        (expected, route) if *method == expected => Ok(route),
        _ => Err(RequestRejection::new(405, "Method Not Allowed")),
    }
}

fn model_route(path: &str, headers: &HeaderMap) -> Result<RequestRoute, RequestRejection> {
    let id = path.strip_prefix("/v1/models/").filter(|id| !id.is_empty());
    let route =
        id.map(|id| RequestRoute::Model(ModelListFormat::from_headers(headers), id.to_owned()));
    route.ok_or_else(|| RequestRejection::new(404, format!("Not Found: {}", truncate_quoted(path))))
}

/// Rejects requests of web pages in a browser: they name the page they come from, and a page that
/// resolves a name of its own to this address (DNS rebinding) names that as the host.
pub(super) fn check_local_sender(headers: &HeaderMap) -> Result<(), RequestRejection> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if text(header::HOST).is_some_and(|host| !is_loopback_authority(host)) {
        return Err(RequestRejection::new(
            403,
            "the Host header names another machine; use 127.0.0.1",
        ));
    }
    let page = text(header::ORIGIN)
        .map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    match page.is_some_and(|host| !is_loopback_authority(host)) {
        true => {
            Err(RequestRejection::new(403, "requests from web pages of other origins are rejected"))
        }
        false => Ok(()),
    }
}

/// Returns whether a host, perhaps with a port, is this machine.
fn is_loopback_authority(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    is_loopback_host(name.trim_start_matches('[').trim_end_matches(']'))
}

/// The format in which a request is rejected before anything else is known about it.
pub(super) fn error_format(path: &str, headers: &HeaderMap) -> ApiFormat {
    let anthropic = path.starts_with("/v1/messages") || headers.contains_key("anthropic-version");
    match path {
        _ if anthropic => ApiFormat::Messages,
        "/v1/responses" => ApiFormat::Responses,
        _ => ApiFormat::Chat,
    }
}
