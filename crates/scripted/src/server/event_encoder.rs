//! The event encoder: what each wire format must implement to write an answer as a stream of
//! events.

use super::answer_block::AnswerBlock;
use super::rejection::RequestRejection;
use crate::scripted_answer::ScriptedStop;

/// Encodes one answer. The methods are called in their order here; events are appended to `out`.
pub(super) trait EventEncoder: Send + Sync {
    /// Starts the answer.
    fn begin_answer(&mut self, out: &mut String);

    /// Starts a block.
    fn open_block(&mut self, out: &mut String, block: &AnswerBlock<'_>);

    /// Adds a piece to the open block.
    fn write_piece(&mut self, out: &mut String, block: &AnswerBlock<'_>, chunk: &str);

    /// Ends the open block, which is complete, or breaks off if it is a truncated call.
    fn close_block(&mut self, out: &mut String, block: &AnswerBlock<'_>);

    /// Writes a keepalive, where the format has one.
    fn write_ping(&self, out: &mut String);

    /// Ends the answer normally.
    fn end_answer(&mut self, out: &mut String, stop: &ScriptedStop);

    /// Ends the answer with an error.
    fn end_with_error(&mut self, out: &mut String, refusal: &RequestRejection);
}
