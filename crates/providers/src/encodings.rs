//! Requests encoded once: the next body is the last one's bytes plus what is new.
//!
//! The encoding of a conversation is found by its first segment and compared segment by segment
//! with what is to be sent, by identity: segments are immutable and shared, so the same segment has
//! the same bytes. Where the two part (a fork, a dropped reply), the rest is encoded anew.
//! Conversations that are over are forgotten when there are too many of them, of the others those
//! that have not been used for longest; forgetting one of these costs one encoding.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use windlass_core::transcript::{Segment, Transcript};

use crate::encoding::{Done, Encoding};
use crate::limits::{KEPT_ENCODING_BYTES, KEPT_ENCODINGS};

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
    by_first: HashMap<usize, Encoding<Open>>,
    bytes: usize,
    uses: u64,
    /// With so many conversations it is looked which are over.
    crowd: usize,
}

/// So few conversations are not looked through.
const FEW_CONVERSATIONS: usize = 16;

impl<E: Encode> Encodings<E> {
    pub(crate) fn new(encode: E) -> Self {
        Self::keeping(Most { conversations: KEPT_ENCODINGS, bytes: KEPT_ENCODING_BYTES }, encode)
    }

    pub(crate) fn keeping(most: Most, encode: E) -> Self {
        let kept = Kept { by_first: HashMap::new(), bytes: 0, uses: 0, crowd: FEW_CONVERSATIONS };
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
    fn append_rest(&self, entry: &mut Encoding<E::Open>, transcript: &Transcript) {
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

    fn taken(&self, first: usize) -> Option<Encoding<E::Open>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = kept.by_first.remove(&first)?;
        kept.bytes = kept.bytes.saturating_sub(entry.rope.bytes());
        Some(entry)
    }

    fn put(&self, first: usize, mut entry: Encoding<E::Open>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        entry.used = kept.uses;
        kept.bytes += entry.rope.bytes();
        if let Some(other) = kept.by_first.insert(first, entry) {
            kept.bytes = kept.bytes.saturating_sub(other.rope.bytes());
        }
        kept.forget_ended();
        kept.forget_oldest(self.most);
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.by_first.len(), kept.bytes)
    }
}

impl<Open> Kept<Open> {
    /// Looks through all of them, but only when they have become twice as many as were left.
    fn forget_ended(&mut self) {
        if self.by_first.len() < self.crowd {
            return;
        }
        self.by_first.retain(|_, encoding| !encoding.is_over());
        self.bytes = self.by_first.values().map(|encoding| encoding.rope.bytes()).sum();
        self.crowd = FEW_CONVERSATIONS.max(2 * self.by_first.len());
    }

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

/// Bytes a segment's encoding is likely to need.
fn room_for(segment: &Segment) -> usize {
    const AROUND: usize = 64;
    segment.blocks.iter().map(|block| block.raw().text().len() + AROUND).sum::<usize>() + AROUND
}

fn address(segment: &Segment) -> usize {
    Arc::as_ptr(&segment.blocks).cast::<u8>().addr()
}
