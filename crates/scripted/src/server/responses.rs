//! OpenAI Responses.

mod conversation_check;
mod event_stream;
mod output_item;
mod request_parser;
mod response_status;
mod script_view;
mod whole_response;

pub(super) use event_stream::ResponsesEventEncoder;
pub(super) use request_parser::{ResponsesSpec, parse_request};
pub(super) use whole_response::encode_response;
