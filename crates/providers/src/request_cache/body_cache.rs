//! The request body cache: each transcript segment is encoded once, and the next body is the bytes
//! of the last one plus what is new.
//!
//! The encoding of a conversation is found by its first segment and compared segment by segment
//! with what is to be sent, by identity: segments are immutable and shared, so the same segment has
//! the same bytes. From where the two differ (a fork, a dropped reply), the rest is encoded again.
//! If there are too many conversations, those that have ended are evicted first, then the least
//! recently used ones; evicting one of these costs one encoding.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use windlass_core::message::transcript::{Transcript, TranscriptSegment};

use crate::limits::{MAX_CACHED_BODY_BYTES, MAX_CACHED_CONVERSATIONS};
use crate::request_cache::address_of;
use crate::request_cache::encoded_conversation::{EncodedConversation, EncodedSegment};

/// How a wire format encodes one segment after another.
pub(crate) trait SegmentEncoder: Send + Sync + 'static {
    /// What is still open at the end of a segment.
    type OpenState: Copy + Default + Send;

    /// Encodes a segment after what is open. Returns what is open then, and where in `out` a cache
    /// marker could be inserted, if anywhere.
    fn encode_segment(
        &self,
        open: Self::OpenState,
        segment: &TranscriptSegment,
        out: &mut Vec<u8>,
    ) -> SegmentOutput<Self::OpenState>;

    /// The bytes that close what is open.
    fn closing_bytes(&self, open: Self::OpenState) -> &'static [u8];
}

/// The result of encoding a segment.
pub(crate) struct SegmentOutput<Open> {
    pub(crate) open: Open,
    pub(crate) cache_marker_at: Option<usize>,
}

/// The encodings of many conversations.
pub(crate) struct BodyCache<E: SegmentEncoder> {
    encoder: E,
    limits: CacheLimits,
    state: Mutex<BodyCacheState<E::OpenState>>,
}

/// How much is cached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheLimits {
    pub(crate) conversations: usize,
    pub(crate) bytes: usize,
}

struct BodyCacheState<Open> {
    by_first_segment: HashMap<usize, EncodedConversation<Open>>,
    bytes: usize,
    use_counter: u64,
    /// The number of conversations at which those that have ended are looked for.
    sweep_threshold: usize,
}

/// The number of conversations below which that is not done.
const MIN_SWEEP_CONVERSATIONS: usize = 16;

impl<E: SegmentEncoder> BodyCache<E> {
    pub(crate) fn new(encode: E) -> Self {
        Self::with_limits(
            CacheLimits { conversations: MAX_CACHED_CONVERSATIONS, bytes: MAX_CACHED_BODY_BYTES },
            encode,
        )
    }

    pub(crate) fn with_limits(limits: CacheLimits, encoder: E) -> Self {
        let kept = BodyCacheState {
            by_first_segment: HashMap::new(),
            bytes: 0,
            use_counter: 0,
            sweep_threshold: MIN_SWEEP_CONVERSATIONS,
        };
        Self { encoder, limits, state: Mutex::new(kept) }
    }

    /// Appends the encoded messages of the transcript to `out`, shared with the cache; `marker` is
    /// inserted where the cache is to be marked.
    pub(crate) fn append_body(
        &self,
        transcript: &Transcript,
        marker: Option<&Bytes>,
        out: &mut Vec<Bytes>,
    ) {
        let Some(first) = transcript.segments().front().map(|segment| address_of(&segment.blocks))
        else {
            return;
        };
        let mut entry = self.take_entry(first).unwrap_or_default();
        entry.truncate_to_common_prefix(transcript);
        self.encode_new_segments(&mut entry, transcript);
        let sent =
            marker.map_or(0, |marker| entry.append_up_to_cache_markers(transcript, marker, out));
        entry.buffer.append_range(sent, entry.buffer.len(), out);
        out.push(Bytes::from_static(self.encoder.closing_bytes(entry.open_state())));
        self.put_entry(first, entry);
    }

    /// Encodes the new segments as one chunk.
    fn encode_new_segments(
        &self,
        entry: &mut EncodedConversation<E::OpenState>,
        transcript: &Transcript,
    ) {
        // By index: iterating over the old segments would take time in proportion to their number.
        let all = transcript.segments();
        let new =
            || (entry.segments.len()..all.len()).filter_map(|place| Some((place, all.get(place)?)));
        let mut out =
            Vec::with_capacity(new().map(|(_, segment)| estimate_encoded_len(segment)).sum());
        let (start, mut open) = (entry.buffer.len(), entry.open_state());
        let mut done = Vec::new();
        for (index, segment) in new() {
            let written = self.encoder.encode_segment(open, segment, &mut out);
            open = written.open;
            done.push(EncodedSegment {
                index,
                blocks: Arc::clone(&segment.blocks),
                end: start + out.len(),
                open,
                cache_marker_at: written.cache_marker_at.map(|splice| start + splice),
            });
        }
        entry.segments.append(&mut done);
        entry.buffer.push(Bytes::from(out));
    }

    fn take_entry(&self, first: usize) -> Option<EncodedConversation<E::OpenState>> {
        let mut kept = self.state.lock();
        let entry = kept.by_first_segment.remove(&first)?;
        kept.bytes = kept.bytes.saturating_sub(entry.buffer.len());
        Some(entry)
    }

    fn put_entry(&self, first: usize, mut entry: EncodedConversation<E::OpenState>) {
        let mut kept = self.state.lock();
        kept.use_counter += 1;
        entry.last_used = kept.use_counter;
        kept.bytes += entry.buffer.len();
        if let Some(other) = kept.by_first_segment.insert(first, entry) {
            kept.bytes = kept.bytes.saturating_sub(other.buffer.len());
        }
        kept.evict_unreferenced();
        kept.evict_least_recently_used(self.limits);
    }

    #[cfg(test)]
    pub(crate) fn cached_sizes(&self) -> (usize, usize) {
        let kept = self.state.lock();
        (kept.by_first_segment.len(), kept.bytes)
    }
}

impl<Open> BodyCacheState<Open> {
    /// Evicts conversations that have ended. Checks all of them, but only when their number has
    /// doubled since the last time.
    fn evict_unreferenced(&mut self) {
        if self.by_first_segment.len() < self.sweep_threshold {
            return;
        }
        self.by_first_segment.retain(|_, encoding| !encoding.is_unreferenced());
        self.bytes = self.by_first_segment.values().map(|encoding| encoding.buffer.len()).sum();
        self.sweep_threshold = MIN_SWEEP_CONVERSATIONS.max(2 * self.by_first_segment.len());
    }

    fn evict_least_recently_used(&mut self, limits: CacheLimits) {
        while self.by_first_segment.len() > limits.conversations || self.bytes > limits.bytes {
            let oldest = self.by_first_segment.iter().min_by_key(|(_, entry)| entry.last_used);
            let Some(entry) = oldest
                .map(|(first, _)| *first)
                .and_then(|first| self.by_first_segment.remove(&first))
            else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(entry.buffer.len());
        }
    }
}

/// An estimate of the bytes that a segment's encoding needs.
fn estimate_encoded_len(segment: &TranscriptSegment) -> usize {
    const AROUND: usize = 64;
    segment.blocks.iter().map(|block| block.raw().text().len() + AROUND).sum::<usize>() + AROUND
}
