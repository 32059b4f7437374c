//! What servers ask the user in the middle of a call (elicitation): which call a request belongs to,
//! and the forms of the protocol.

use std::collections::HashMap;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use windlass_core::call::input_request::{InputRequest, RequestAnswer, RequestedInput};
use windlass_core::message::raw_json::RawJson;

use crate::plain_text::plain_text;

/// Length of a question, in characters.
const MAX_MESSAGE_CHARS: usize = 4_000;

/// Length of an address, in characters.
const MAX_URL_CHARS: usize = 2_000;

/// Length of the schema of a form, in bytes.
const MAX_SCHEMA_BYTES: usize = 64 << 10;

/// Number of pages that one refusal may ask for.
const MAX_PAGES: usize = 4;

/// JSON-RPC: the parameters are not valid.
const INVALID_PARAMS: i64 = -32602;

/// A request to the user that waits for its answer.
pub(crate) struct UserRequest {
    pub(crate) request: InputRequest,
    pub(crate) reply: oneshot::Sender<RequestAnswer>,
}

/// Takes the requests that belong to one call.
pub(crate) type UserRequests = mpsc::Sender<UserRequest>;

/// The calls in progress that may ask the user, by the ids of their JSON-RPC requests.
#[derive(Default)]
pub(crate) struct AskingCalls(Mutex<HashMap<u64, UserRequests>>);

impl AskingCalls {
    pub(crate) fn add(&self, id: u64, requests: UserRequests) {
        self.0.lock().insert(id, requests);
    }

    pub(crate) fn remove(&self, id: u64) {
        self.0.lock().remove(&id);
    }

    /// Returns the call that a request belongs to: the one whose stream brought it, or the only one.
    /// With several calls in progress another user could be asked, so then there is none.
    fn find(&self, stream_of: Option<u64>) -> Option<UserRequests> {
        let calls = self.0.lock();
        let by_stream = stream_of.and_then(|id| calls.get(&id));
        let only = || calls.values().next().filter(|_| calls.len() == 1);
        by_stream.or_else(only).cloned()
    }

    /// Asks the user of the call that the request belongs to, and returns the result of the protocol.
    pub(crate) fn ask(
        &self,
        request: InputRequest,
        stream_of: Option<u64>,
    ) -> impl Future<Output = Value> + use<> {
        let call = self.find(stream_of);
        async move {
            let (reply, answer) = oneshot::channel();
            let asked = match call {
                Some(call) => call.try_send(UserRequest { request, reply }).is_ok(),
                None => false,
            };
            let answer = if asked { answer.await.ok() } else { None };
            match answer {
                Some(RequestAnswer::Accepted { content: Some(values) }) => {
                    let values: Value = values.read().unwrap_or_default();
                    json!({"action": "accept", "content": values})
                }
                Some(RequestAnswer::Accepted { content: None }) => json!({"action": "accept"}),
                Some(RequestAnswer::Declined {}) => json!({"action": "decline"}),
                // Nobody was asked, or the call has ended.
                None => json!({"action": "cancel"}),
            }
        }
    }
}

/// Reads the parameters of `elicitation/create`.
pub(crate) fn parse_request(server: &str, params: &Value) -> Result<InputRequest, (i64, String)> {
    let invalid = |what: &str| Err((INVALID_PARAMS, what.to_owned()));
    let text = |key: &str| params.get(key).and_then(Value::as_str);
    let message = plain_text(text("message").unwrap_or_default(), MAX_MESSAGE_CHARS);
    let wants = match text("mode").unwrap_or("form") {
        "form" => {
            let schema = params.get("requestedSchema").filter(|schema| schema.is_object());
            let Some(schema) = schema.map(RawJson::encode) else {
                return invalid("requestedSchema is missing");
            };
            if schema.text().len() > MAX_SCHEMA_BYTES {
                return invalid("requestedSchema exceeds 64 KiB");
            }
            RequestedInput::Form { schema }
        }
        "url" => match text("url").map(|url| plain_text(url, MAX_URL_CHARS)) {
            Some(url) if url.starts_with("https://") || url.starts_with("http://") => {
                RequestedInput::Page { url: url.into() }
            }
            _ => return invalid("url is not an address of the web"),
        },
        _ => return invalid("the mode is neither form nor url"),
    };
    Ok(InputRequest { from: server.into(), message: message.into(), wants })
}

/// Returns the pages that a refused call asks the user to open before it is sent again.
pub(crate) fn required_pages(server: &str, error: &Value) -> Vec<InputRequest> {
    let pages = error.pointer("/data/elicitations").and_then(Value::as_array);
    let pages = pages.into_iter().flatten().take(MAX_PAGES);
    pages.filter_map(|page| parse_request(server, page).ok()).collect()
}
