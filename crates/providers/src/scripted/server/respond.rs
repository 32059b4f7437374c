//! Putting responses together.

use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::asked::Format;
use super::outgoing::Outgoing;
use super::refusal::Refusal;

/// A response, or nothing: the connection is dropped without one.
pub(super) type Reply = Option<Response<Outgoing>>;

/// A JSON document.
pub(super) fn json(status: u16, body: Outgoing) -> Response<Outgoing> {
    with_type(status, "application/json", body)
}

/// A stream of events.
pub(super) fn events(body: Outgoing) -> Response<Outgoing> {
    let mut response = with_type(200, "text/event-stream; charset=utf-8", body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// A refusal in the words of a format.
pub(super) fn refused(format: Format, refusal: &Refusal, request_id: &str) -> Response<Outgoing> {
    let body = Outgoing::whole(format.error(refusal, request_id));
    let mut response = json(refusal.status, body);
    let retry_after = refusal.retry_after.as_deref();
    if let Some(value) = retry_after.and_then(|text| HeaderValue::from_str(text).ok()) {
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    response
}

/// Adds the id of the request.
pub(super) fn identify(headers: &mut HeaderMap, format: Format, request_id: &str) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(HeaderName::from_static(format.id_header()), value);
    }
}

fn with_type(status: u16, kind: &'static str, body: Outgoing) -> Response<Outgoing> {
    let mut response = Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
