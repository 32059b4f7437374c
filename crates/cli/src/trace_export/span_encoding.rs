//! Spans as OTLP has them: `opentelemetry.proto.trace.v1` in `ExportTraceServiceRequest`. The field
//! numbers are those of its published definition, which never change.

use super::protobuf::ProtobufMessage;

/// A span that is complete.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExportedSpan {
    pub(super) id: [u8; 8],
    pub(super) parent: Option<[u8; 8]>,
    pub(super) name: String,
    pub(super) kind: ExportedKind,
    pub(super) start_ms: u64,
    pub(super) end_ms: u64,
    pub(super) attributes: Vec<(&'static str, AttributeValue)>,
    pub(super) status: ExportedStatus,
}

/// The role of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExportedKind {
    Internal = 1,
    Client = 3,
}

/// How a span ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExportedStatus {
    Unset,
    Error(String),
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AttributeValue {
    Text(String),
    Integer(u64),
    Flag(bool),
    Texts(Vec<String>),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for AttributeValue {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

/// Encodes the spans of one trace as a request to the receiver.
pub(super) fn encode_request(
    resource: &[(String, String)],
    trace: &[u8; 16],
    spans: &[ExportedSpan],
) -> Vec<u8> {
    let mut described = ProtobufMessage::default();
    for (key, value) in resource {
        described.add_message(1, &attribute(key, &AttributeValue::Text(value.clone())));
    }
    let mut scope = ProtobufMessage::default();
    scope.add_bytes(1, b"windlass");
    scope.add_bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut scope_spans = ProtobufMessage::default();
    scope_spans.add_message(1, &scope);
    for span in spans {
        scope_spans.add_message(2, &encode_span(trace, span));
    }
    let mut resource_spans = ProtobufMessage::default();
    resource_spans.add_message(1, &described);
    resource_spans.add_message(2, &scope_spans);
    let mut request = ProtobufMessage::default();
    request.add_message(1, &resource_spans);
    request.into_bytes()
}

fn encode_span(trace: &[u8; 16], span: &ExportedSpan) -> ProtobufMessage {
    let nanos = |ms: u64| ms.saturating_mul(1_000_000);
    let mut encoded = ProtobufMessage::default();
    encoded.add_bytes(1, trace);
    encoded.add_bytes(2, &span.id);
    if let Some(parent) = &span.parent {
        encoded.add_bytes(4, parent);
    }
    encoded.add_bytes(5, span.name.as_bytes());
    encoded.add_integer(6, span.kind as u64);
    encoded.add_fixed64(7, nanos(span.start_ms));
    encoded.add_fixed64(8, nanos(span.end_ms));
    for (key, value) in &span.attributes {
        encoded.add_message(9, &attribute(key, value));
    }
    if let ExportedStatus::Error(message) = &span.status {
        let mut status = ProtobufMessage::default();
        if !message.is_empty() {
            status.add_bytes(2, message.as_bytes());
        }
        status.add_integer(3, 2);
        encoded.add_message(15, &status);
    }
    encoded
}

fn attribute(key: &str, value: &AttributeValue) -> ProtobufMessage {
    let mut pair = ProtobufMessage::default();
    pair.add_bytes(1, key.as_bytes());
    pair.add_message(2, &any_value(value));
    pair
}

fn any_value(value: &AttributeValue) -> ProtobufMessage {
    let mut any = ProtobufMessage::default();
    match value {
        AttributeValue::Text(text) => any.add_bytes(1, text.as_bytes()),
        AttributeValue::Flag(flag) => any.add_chosen_integer(2, u64::from(*flag)),
        AttributeValue::Integer(number) => any.add_chosen_integer(3, *number),
        AttributeValue::Texts(texts) => {
            let mut list = ProtobufMessage::default();
            for text in texts {
                list.add_message(1, &any_value(&AttributeValue::Text(text.clone())));
            }
            any.add_message(5, &list);
        }
    }
    any
}
