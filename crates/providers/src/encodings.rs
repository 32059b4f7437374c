//! Requests encoded once: the next body is the last one's bytes plus what is new.
//!
//! The encoding of a conversation is found by its first segment and compared segment by segment
//! with what is to be sent, by identity: segments are immutable and shared, so the same segment has
//! the same bytes. Where the two part (a fork, a dropped reply), the rest is encoded anew. What has
//! not been used for longest is forgotten first; forgetting costs one encoding.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use windlass_core::block::Block;
use windlass_core::transcript::{Role, Segment, Transcript};

use crate::limits::{KEPT_ENCODING_BYTES, KEPT_ENCODINGS};
use crate::rope::Rope;

/// How a wire format writes one segment after another.
pub(crate) trait Encode: Send + Sync + 'static {
    /// What is still open at the end of a segment.
    type Open: Copy + Default + Send;

    /// Writes a segment after what is open. Says what is open now, and where in `out` a cache
    /// marker could be spliced in, if anywhere.
    fn segment(
        &self,
        open: Self::Open,
        segment: &Segment,
        out: &mut Vec<u8>,
    ) -> Written<Self::Open>;

    /// Closes what is open.
    fn close(&self, open: Self::Open) -> &'static [u8];
}

/// What a segment left behind.
pub(crate) struct Written<Open> {
    pub(crate) open: Open,
    pub(crate) splice: Option<usize>,
}

/// The encodings of many conversations.
pub(crate) struct Encodings<E: Encode> {
    encode: E,
    most: Most,
    kept: Mutex<Kept<E::Open>>,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Most {
    pub(crate) conversations: usize,
    pub(crate) bytes: usize,
}

struct Kept<Open> {
    by_first: HashMap<usize, Entry<Open>>,
    bytes: usize,
    uses: u64,
}

struct Entry<Open> {
    segments: Vec<Done<Open>>,
    generation: u32,
    rope: Rope,
    used: u64,
}

struct Done<Open> {
    place: usize,
    /// Held, so that its address cannot come to mean another segment.
    blocks: Arc<[Block]>,
    end: usize,
    open: Open,
    splice: Option<usize>,
}

impl<E: Encode> Encodings<E> {
    pub(crate) fn new(encode: E) -> Self {
        Self::keeping(Most { conversations: KEPT_ENCODINGS, bytes: KEPT_ENCODING_BYTES }, encode)
    }

    pub(crate) fn keeping(most: Most, encode: E) -> Self {
        let kept = Kept { by_first: HashMap::new(), bytes: 0, uses: 0 };
        Self { encode, most, kept: Mutex::new(kept) }
    }

    /// Appends the transcript's messages to `out`, shared with what is kept; `marker` goes in
    /// where the cache is to be marked.
    pub(crate) fn share(
        &self,
        transcript: &Transcript,
        marker: Option<&Bytes>,
        out: &mut Vec<Bytes>,
    ) {
        let Some(first) = transcript.segments().front().map(address) else { return };
        let mut entry = self.taken(first).unwrap_or_default();
        entry.keep_common(transcript);
        self.append_rest(&mut entry, transcript);
        let sent = marker.map_or(0, |marker| entry.share_marked(transcript, marker, out));
        entry.rope.share(sent, entry.rope.bytes(), out);
        out.push(Bytes::from_static(self.encode.close(entry.open())));
        self.put(first, entry);
    }

    /// Writes what is new, in one piece.
    fn append_rest(&self, entry: &mut Entry<E::Open>, transcript: &Transcript) {
        // By index: going through the old ones would cost what they are many.
        let all = transcript.segments();
        let new =
            || (entry.segments.len()..all.len()).filter_map(|place| Some((place, all.get(place)?)));
        let mut out = Vec::with_capacity(new().map(|(_, segment)| room_for(segment)).sum());
        let (start, mut open) = (entry.rope.bytes(), entry.open());
        let mut done = Vec::new();
        for (place, segment) in new() {
            let written = self.encode.segment(open, segment, &mut out);
            open = written.open;
            done.push(Done {
                place,
                blocks: Arc::clone(&segment.blocks),
                end: start + out.len(),
                open,
                splice: written.splice.map(|splice| start + splice),
            });
        }
        entry.segments.append(&mut done);
        entry.rope.push(Bytes::from(out));
    }

    fn taken(&self, first: usize) -> Option<Entry<E::Open>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = kept.by_first.remove(&first)?;
        kept.bytes = kept.bytes.saturating_sub(entry.rope.bytes());
        Some(entry)
    }

    fn put(&self, first: usize, mut entry: Entry<E::Open>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        entry.used = kept.uses;
        kept.bytes += entry.rope.bytes();
        if let Some(other) = kept.by_first.insert(first, entry) {
            kept.bytes = kept.bytes.saturating_sub(other.rope.bytes());
        }
        kept.forget_oldest(self.most);
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.by_first.len(), kept.bytes)
    }
}

impl<Open> Done<Open> {
    fn is(&self, segment: &Segment) -> bool {
        Arc::ptr_eq(&self.blocks, &segment.blocks)
    }
}

impl<Open> Kept<Open> {
    fn forget_oldest(&mut self, most: Most) {
        while self.by_first.len() > most.conversations || self.bytes > most.bytes {
            let oldest = self.by_first.iter().min_by_key(|(_, entry)| entry.used);
            let Some(entry) =
                oldest.map(|(first, _)| *first).and_then(|first| self.by_first.remove(&first))
            else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(entry.rope.bytes());
        }
    }
}

impl<Open> Default for Entry<Open> {
    fn default() -> Self {
        Self { segments: Vec::new(), generation: 0, rope: Rope::default(), used: 0 }
    }
}

impl<Open: Copy + Default> Entry<Open> {
    fn open(&self) -> Open {
        self.segments.last().map(|done| done.open).unwrap_or_default()
    }
}

impl<Open> Entry<Open> {
    /// Forgets what the transcript does not begin with.
    fn keep_common(&mut self, transcript: &Transcript) {
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
    fn share_marked(&self, transcript: &Transcript, marker: &Bytes, out: &mut Vec<Bytes>) -> usize {
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

/// Bytes a segment's encoding is likely to need.
fn room_for(segment: &Segment) -> usize {
    const AROUND: usize = 64;
    segment.blocks.iter().map(|block| block.raw().text().len() + AROUND).sum::<usize>() + AROUND
}

fn address(segment: &Segment) -> usize {
    Arc::as_ptr(&segment.blocks).cast::<u8>().addr()
}
