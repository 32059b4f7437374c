//! Builds responses.

use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::parsed_request::ApiFormat;
use super::rejection::RequestRejection;
use super::response_body::ResponseBody;

/// A response; `None` if the connection is dropped without one.
pub(super) type MaybeResponse = Option<Response<ResponseBody>>;

/// A response with a JSON document.
pub(super) fn json_response(status: u16, body: ResponseBody) -> Response<ResponseBody> {
    response_with_type(status, "application/json", body)
}

/// A response with a stream of events.
pub(super) fn event_stream_response(body: ResponseBody) -> Response<ResponseBody> {
    let mut response = response_with_type(200, "text/event-stream; charset=utf-8", body);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// A rejection in a wire format.
pub(super) fn rejection_response(
    format: ApiFormat,
    refusal: &RequestRejection,
    request_id: &str,
) -> Response<ResponseBody> {
    let body = ResponseBody::whole(format.encode_error(refusal, request_id));
    let mut response = json_response(refusal.status, body);
    let retry_after = refusal.retry_after.as_deref();
    if let Some(value) = retry_after.and_then(|text| HeaderValue::from_str(text).ok()) {
        response.headers_mut().insert(RETRY_AFTER, value);
    }
    response
}

/// Adds the id of the request to the headers.
pub(super) fn add_request_id(headers: &mut HeaderMap, format: ApiFormat, request_id: &str) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(HeaderName::from_static(format.id_header()), value);
    }
}

fn response_with_type(
    status: u16,
    kind: &'static str,
    body: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
