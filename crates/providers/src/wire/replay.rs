//! Decodes a recorded stream without a connection.

use std::sync::Arc;

use windlass_core::log::ids::ModelCallId;
use windlass_core::log::input::ModelFailure;
use windlass_core::message::reply::ModelReply;
use windlass_runtime::ports::ReplyObserver;

use crate::catalog::provider_table::WireFormat;
use crate::error::call_error::CallError;
use crate::secret::Redactor;
use crate::wire::decode_context::DecodeContext;
use crate::wire::wire_formats;
use crate::wire::wire_protocol::{DecodeProgress, DecodedReply, ReplyStreamDecoder};

/// The call that the recorded stream belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedCall {
    /// The name of the model.
    pub model: Arc<str>,
    /// The id of the model call.
    pub model_call: ModelCallId,
    /// The stop strings of the request.
    pub stop_strings: Vec<Arc<str>>,
}

/// Decodes a recorded stream, however its bytes are split.
///
/// # Errors
///
/// Returns the failure that the stream would have caused in a call.
pub fn replay_stream<'a>(
    format: WireFormat,
    recorded: &RecordedCall,
    pieces: impl IntoIterator<Item = &'a [u8]>,
    stream: &dyn ReplyObserver,
) -> Result<ModelReply, ModelFailure> {
    let RecordedCall { model, model_call, stop_strings } = recorded.clone();
    let context = DecodeContext { model, model_call, body_bytes: 0, stop_strings };
    let mut decoding = ReplyStreamDecoder::new(wire_formats::new_decoder(format, context));
    let redactor = Redactor::default();
    let failure = |error: &CallError, has_started: bool| match has_started {
        true => error.to_failure_once_started(&redactor),
        false => error.to_failure(&redactor),
    };
    for chunk in pieces {
        let pushed = decoding.push(chunk, stream);
        match pushed.map_err(|fault| failure(&fault, decoding.has_started()))? {
            DecodeProgress::Done | DecodeProgress::StopReading => break,
            DecodeProgress::Content | DecodeProgress::Keepalive => {}
        }
    }
    let begun = decoding.has_started();
    let DecodedReply { mut reply, envelope } =
        decoding.finish(stream).map_err(|fault| failure(&fault, begun))?;
    reply.envelope = envelope.finish();
    Ok(reply)
}
