use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::transcript::{Transcript, TranscriptSegment};

use crate::request_cache::body_cache::{BodyCache, CacheLimits, SegmentEncoder, SegmentOutput};

/// Encodes a segment as its raw blocks, and counts how often.
#[derive(Default)]
struct PlainEncoder {
    written: std::sync::atomic::AtomicUsize,
}

impl SegmentEncoder for &'static PlainEncoder {
    type OpenState = ();

    fn encode_segment(
        &self,
        (): (),
        segment: &TranscriptSegment,
        out: &mut Vec<u8>,
    ) -> SegmentOutput<()> {
        self.written.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        for block in segment.blocks.iter() {
            out.extend_from_slice(block.raw().text().as_bytes());
        }
        SegmentOutput { open: (), cache_marker_at: None }
    }

    fn closing_bytes(&self, (): ()) -> &'static [u8] {
        b""
    }
}

fn plain_cache() -> &'static PlainEncoder {
    Box::leak(Box::default())
}

fn body_text(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[ContentBlock::text(text)]);
    transcript
}

#[test]
fn a_segment_is_written_once() {
    let plain = plain_cache();
    let encodings = BodyCache::new(plain);
    let mut transcript = body_text("first");
    for round in 0..100 {
        transcript.push_note(&format!("note {round}"));
        encodings.append_body(&transcript, None, &mut Vec::new());
        encodings.append_body(&transcript, None, &mut Vec::new());
    }
    assert_eq!(plain.written.load(std::sync::atomic::Ordering::Relaxed), 101);
}

#[test]
fn only_so_many_conversations_are_kept() {
    let limits = CacheLimits { conversations: 10, bytes: 1_000_000 };
    let encodings = BodyCache::with_limits(limits, plain_cache());
    let all: Vec<Transcript> = (0..25).map(|_| body_text("x")).collect();
    all.iter().for_each(|transcript| {
        encodings.append_body(transcript, None, &mut Vec::new());
    });
    assert_eq!(encodings.cached_sizes().0, 10);
}

#[test]
fn only_so_many_bytes_are_kept() {
    let limits = CacheLimits { conversations: 10, bytes: 1_000 };
    let encodings = BodyCache::with_limits(limits, plain_cache());
    let all: Vec<Transcript> = (0..6).map(|_| body_text(&"x".repeat(240))).collect();
    all.iter().for_each(|transcript| {
        encodings.append_body(transcript, None, &mut Vec::new());
    });
    let (count, bytes) = encodings.cached_sizes();
    assert!((2..5).contains(&count) && bytes <= 1_000, "{count} with {bytes} bytes");
}

/// However many conversations there have been: those that have ended take no memory.
#[test]
fn conversations_that_are_over_are_forgotten() {
    let encodings = BodyCache::new(plain_cache());
    let alive: Vec<Transcript> = (0..20).map(|_| body_text("x")).collect();
    alive.iter().for_each(|transcript| encodings.append_body(transcript, None, &mut Vec::new()));
    for _ in 0..1_000 {
        encodings.append_body(&body_text("y"), None, &mut Vec::new());
    }
    let (count, bytes) = encodings.cached_sizes();
    assert!((20..=40).contains(&count), "{count}");
    assert_eq!(bytes, count * body_text("x").byte_count() as usize);
}
