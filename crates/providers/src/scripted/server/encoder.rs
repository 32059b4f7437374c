//! Writing an answer as a stream of events: what each wire format must be able to do.

use super::super::answer::Stop;
use super::block::Block;
use super::refusal::Refusal;

/// One answer on its way out. Calls come in the order of the methods; events are appended to
/// `out`.
pub(super) trait Encoder: Send + Sync {
    /// The answer begins.
    fn begin(&mut self, out: &mut String);

    /// A block begins.
    fn open(&mut self, out: &mut String, block: &Block<'_>);

    /// A piece of the open block arrives.
    fn piece(&mut self, out: &mut String, block: &Block<'_>, piece: &str);

    /// The open block is complete, or breaks off if it is a cut call.
    fn close(&mut self, out: &mut String, block: &Block<'_>);

    /// A sign of life, where the format has one.
    fn ping(&self, out: &mut String);

    /// The answer ends as it should.
    fn end(&mut self, out: &mut String, stop: &Stop);

    /// The answer ends with an error.
    fn fail(&mut self, out: &mut String, refusal: &Refusal);
}
