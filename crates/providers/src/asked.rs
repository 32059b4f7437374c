//! What a decoder has to know of the request it reads the answer to.

use std::sync::Arc;

use windlass_core::ids::AskId;
use windlass_core::reply::Usage;

use crate::notice::{Envelope, Notice};
use crate::numbers::ReportedUsage;

/// Bytes to a token, where nobody counted.
const BYTES_PER_TOKEN: u64 = 4;

/// The request, as far as its answer needs it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The model's name on the wire.
    pub(crate) model: Arc<str>,
    /// Which model call it is: ids are minted from it where the server gives none.
    pub(crate) ask: AskId,
    /// Bytes of the body.
    pub(crate) body_bytes: usize,
    /// What ends the output.
    pub(crate) stops: Vec<Arc<str>>,
}

impl Asked {
    /// What the call used: the server's figures, and an estimate for each one that is missing. A
    /// server that says no input was used is not believed, because something was sent.
    pub(crate) fn usage(
        &self,
        reported: ReportedUsage,
        reply_bytes: usize,
        envelope: &mut Envelope,
    ) -> Usage {
        let ReportedUsage { input, output, cache_read, cache_write } = reported;
        let estimate = self.estimate(reply_bytes);
        let (read, written) = (cache_read.or(0), cache_write.or(0));
        let said = input.0.filter(|input| input.saturating_add(read).saturating_add(written) > 0);
        // Nor is one that says nothing came although something did.
        let wrote = output.0.filter(|output| *output > 0 || reply_bytes == 0);
        if said.is_none() || wrote.is_none() {
            envelope.notice(Notice::UsageEstimated);
        }
        Usage {
            input_tokens: said.unwrap_or_else(|| estimate.input_tokens.saturating_sub(read)),
            output_tokens: wrote.unwrap_or(estimate.output_tokens),
            cache_read_tokens: read,
            cache_write_tokens: written,
        }
    }

    /// An estimate, for servers that do not say what a call used.
    pub(crate) fn estimate(&self, reply_bytes: usize) -> Usage {
        let tokens = |bytes: usize| (bytes as u64).div_ceil(BYTES_PER_TOKEN);
        Usage {
            input_tokens: tokens(self.body_bytes),
            output_tokens: tokens(reply_bytes),
            ..Usage::default()
        }
    }
}
