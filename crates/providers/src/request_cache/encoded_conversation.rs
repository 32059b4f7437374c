//! The encoded request body of one conversation, segment by segment.

use std::sync::Arc;

use bytes::Bytes;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::transcript::{Role, Transcript, TranscriptSegment};

use crate::request_cache::shared_buffer::SharedBuffer;

/// The part of a conversation that is encoded so far.
pub(crate) struct EncodedConversation<Open> {
    pub(crate) segments: Vec<EncodedSegment<Open>>,
    generation: u32,
    pub(crate) buffer: SharedBuffer,
    /// When it was used last, on the cache's counter.
    pub(crate) last_used: u64,
}

/// A segment that was encoded.
pub(crate) struct EncodedSegment<Open> {
    pub(crate) index: usize,
    /// Held, so that its address cannot be reused by another segment.
    pub(crate) blocks: Arc<[ContentBlock]>,
    pub(crate) end: usize,
    pub(crate) open: Open,
    pub(crate) cache_marker_at: Option<usize>,
}

impl<Open> EncodedSegment<Open> {
    fn is_segment(&self, segment: &TranscriptSegment) -> bool {
        Arc::ptr_eq(&self.blocks, &segment.blocks)
    }
}

impl<Open> Default for EncodedConversation<Open> {
    fn default() -> Self {
        Self { segments: Vec::new(), generation: 0, buffer: SharedBuffer::default(), last_used: 0 }
    }
}

impl<Open: Copy + Default> EncodedConversation<Open> {
    /// What is still open at the end of the encoding.
    pub(crate) fn open_state(&self) -> Open {
        self.segments.last().map(|segment| segment.open).unwrap_or_default()
    }
}

impl<Open> EncodedConversation<Open> {
    /// Returns whether the conversation is no longer in use: nothing else holds its first segment.
    pub(crate) fn is_unreferenced(&self) -> bool {
        self.segments.first().is_none_or(|segment| Arc::strong_count(&segment.blocks) == 1)
    }

    /// Drops the segments that the transcript does not begin with.
    pub(crate) fn truncate_to_common_prefix(&mut self, transcript: &Transcript) {
        let common = self.common_prefix_len(transcript);
        debug_assert!(
            self.is_common_prefix(transcript, common),
            "a generation only grows at its end"
        );
        self.segments.truncate(common);
        self.buffer.truncate(self.segments.last().map_or(0, |segment| segment.end));
        self.generation = transcript.generation();
    }

    /// The number of segments that both begin with. Within a generation a transcript only grows at
    /// its end: where two of them hold the same segment, they hold the same ones before it, and the
    /// point where they differ is found by binary search, so that long conversations cost nothing
    /// here.
    fn common_prefix_len(&self, transcript: &Transcript) -> usize {
        if self.generation != transcript.generation() {
            let pairs = self.segments.iter().zip(transcript.segments());
            return pairs.take_while(|(done, segment)| done.is_segment(segment)).count();
        }
        self.segments.partition_point(|done| {
            transcript.segments().get(done.index).is_some_and(|segment| done.is_segment(segment))
        })
    }

    fn is_common_prefix(&self, transcript: &Transcript, count: usize) -> bool {
        let pairs = self.segments.iter().zip(transcript.segments());
        pairs.take(count).all(|(done, segment)| done.is_segment(segment))
    }

    /// Appends everything up to the last cache marker: one stands at the end of the previous
    /// request, one at the end of this one. Returns the number of bytes.
    pub(crate) fn append_up_to_cache_markers(
        &self,
        transcript: &Transcript,
        marker: &Bytes,
        out: &mut Vec<Bytes>,
    ) -> usize {
        let mut sent = 0;
        for end in [previous_request_len(transcript), self.segments.len()] {
            if let Some(splice) = self.last_cache_marker_before(end).filter(|splice| *splice > sent)
            {
                self.buffer.append_range(sent, splice, out);
                out.push(marker.clone());
                sent = splice;
            }
        }
        sent
    }

    /// The last position for a cache marker in the first `count` segments.
    fn last_cache_marker_before(&self, count: usize) -> Option<usize> {
        self.segments.iter().take(count).rev().find_map(|segment| segment.cache_marker_at)
    }
}

/// The number of segments of the previous request: everything before the last reply.
fn previous_request_len(transcript: &Transcript) -> usize {
    let segments = transcript.segments();
    let mut after = segments.len();
    for segment in segments.iter().rev() {
        after -= 1;
        if segment.role == Role::Assistant {
            return after;
        }
    }
    0
}
