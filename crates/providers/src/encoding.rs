//! One conversation, encoded: its segments as they were written, one after another.

use std::sync::Arc;

use bytes::Bytes;
use windlass_core::block::Block;
use windlass_core::transcript::{Role, Segment, Transcript};

use crate::rope::Rope;

/// What was written of a conversation so far.
pub(crate) struct Encoding<Open> {
    pub(crate) segments: Vec<Done<Open>>,
    generation: u32,
    pub(crate) rope: Rope,
    /// When it was used last, as its keeper counts.
    pub(crate) used: u64,
}

/// A segment that was written.
pub(crate) struct Done<Open> {
    pub(crate) place: usize,
    /// Held, so that its address cannot come to mean another segment.
    pub(crate) blocks: Arc<[Block]>,
    pub(crate) end: usize,
    pub(crate) open: Open,
    pub(crate) splice: Option<usize>,
}

impl<Open> Done<Open> {
    fn is(&self, segment: &Segment) -> bool {
        Arc::ptr_eq(&self.blocks, &segment.blocks)
    }
}

impl<Open> Default for Encoding<Open> {
    fn default() -> Self {
        Self { segments: Vec::new(), generation: 0, rope: Rope::default(), used: 0 }
    }
}

impl<Open: Copy + Default> Encoding<Open> {
    /// What is still open at its end.
    pub(crate) fn open(&self) -> Open {
        self.segments.last().map(|done| done.open).unwrap_or_default()
    }
}

impl<Open> Encoding<Open> {
    /// Whether nobody can ask for it again: nobody else holds its first segment.
    pub(crate) fn is_over(&self) -> bool {
        self.segments.first().is_none_or(|done| Arc::strong_count(&done.blocks) == 1)
    }

    /// Forgets what the transcript does not begin with.
    pub(crate) fn keep_common(&mut self, transcript: &Transcript) {
        let common = self.common(transcript);
        debug_assert!(self.all_common(transcript, common), "a generation only grows at its end");
        self.segments.truncate(common);
        self.rope.truncate(self.segments.last().map_or(0, |done| done.end));
        self.generation = transcript.generation();
    }

    /// How many segments both begin with. Within a generation a transcript only grows at its end:
    /// where two of them hold the same segment, they hold the same before it, and the place where
    /// they part is found by halving. A conversation as long as it likes costs nothing here.
    fn common(&self, transcript: &Transcript) -> usize {
        if self.generation != transcript.generation() {
            let pairs = self.segments.iter().zip(transcript.segments());
            return pairs.take_while(|(done, segment)| done.is(segment)).count();
        }
        self.segments.partition_point(|done| {
            transcript.segments().get(done.place).is_some_and(|segment| done.is(segment))
        })
    }

    fn all_common(&self, transcript: &Transcript, count: usize) -> bool {
        let pairs = self.segments.iter().zip(transcript.segments());
        pairs.take(count).all(|(done, segment)| done.is(segment))
    }

    /// Appends everything up to the last marker: one stands at the end of the request before this
    /// one, one at the end of this one. Says how many bytes that is.
    pub(crate) fn share_marked(
        &self,
        transcript: &Transcript,
        marker: &Bytes,
        out: &mut Vec<Bytes>,
    ) -> usize {
        let mut sent = 0;
        for end in [previous_end(transcript), self.segments.len()] {
            if let Some(splice) = self.splice_before(end).filter(|splice| *splice > sent) {
                self.rope.share(sent, splice, out);
                out.push(marker.clone());
                sent = splice;
            }
        }
        sent
    }

    /// The last place for a marker in the first `count` segments.
    fn splice_before(&self, count: usize) -> Option<usize> {
        self.segments.iter().take(count).rev().find_map(|done| done.splice)
    }
}

/// How many segments the request before this one had: everything before the last reply.
fn previous_end(transcript: &Transcript) -> usize {
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
