//! What a reader wants to see besides entries and pieces of text.

/// What a stream delivers besides entries and pieces of text. The default is nothing: what no reader
/// asks for is not even produced.
///
/// Set with [`Session::with_stream_options`](crate::Session::with_stream_options).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// The events of a reply as the provider sends them
    /// ([`StreamItem::ReplyEvent`](super::StreamItem::ReplyEvent)), in place of pieces of text and
    /// thinking. Pieces are still delivered of a reply whose model sends no events.
    pub reply_events: bool,
    /// What running calls print and how far they are
    /// ([`StreamItem::CallProgress`](super::StreamItem::CallProgress)).
    pub call_progress: bool,
    /// A line about each batch of tool calls, written by the model for side requests while the run
    /// goes on ([`StreamItem::CallSummary`](super::StreamItem::CallSummary)). It costs a small model
    /// call for each batch.
    pub call_summaries: bool,
}
