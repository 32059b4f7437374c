//! What a decoder needs to know about the request whose response it decodes.

use std::sync::Arc;

use windlass_core::log::ids::ModelCallId;
use windlass_core::message::reply::TokenUsage;

use crate::call::call_notice::{CallNotice, ReplyEnvelope};
use crate::wire::reported_usage::ReportedUsage;

/// Bytes per token, for estimates where no count is available.
const BYTES_PER_TOKEN: u64 = 4;

/// The request, as far as its decoder needs it.
#[derive(Debug, Clone)]
pub(crate) struct DecodeContext {
    /// The model's name in requests.
    pub(crate) model: Arc<str>,
    /// The model call; ids are generated from it where the server gives none.
    pub(crate) model_call: ModelCallId,
    /// The number of bytes of the request body.
    pub(crate) body_bytes: usize,
    /// The stop strings of the request.
    pub(crate) stop_strings: Vec<Arc<str>>,
}

impl DecodeContext {
    /// Returns the usage that the server reported, with an estimate for each figure that is
    /// missing. A server that reports no input is not believed, because something was sent.
    pub(crate) fn usage_or_estimate(
        &self,
        reported: ReportedUsage,
        reply_bytes: usize,
        envelope: &mut ReplyEnvelope,
    ) -> TokenUsage {
        let ReportedUsage { input, output, cache_read, cache_write } = reported;
        let estimate = self.estimate_usage(reply_bytes);
        let (read, written) = (cache_read.value_or(0), cache_write.value_or(0));
        let said = input.0.filter(|input| input.saturating_add(read).saturating_add(written) > 0);
        // A server that reports no output although some arrived is not believed either.
        let wrote = output.0.filter(|output| *output > 0 || reply_bytes == 0);
        if said.is_none() || wrote.is_none() {
            envelope.add_notice(CallNotice::UsageEstimated);
        }
        TokenUsage {
            input_tokens: said.unwrap_or_else(|| estimate.input_tokens.saturating_sub(read)),
            output_tokens: wrote.unwrap_or(estimate.output_tokens),
            cache_read_tokens: read,
            cache_write_tokens: written,
        }
    }

    /// An estimate of the usage, for servers that do not report it.
    pub(crate) fn estimate_usage(&self, reply_bytes: usize) -> TokenUsage {
        let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        TokenUsage {
            input_tokens: tokens(self.body_bytes),
            output_tokens: tokens(reply_bytes),
            ..TokenUsage::default()
        }
    }
}
