use windlass_core::block::Block;
use windlass_core::transcript::{Segment, Transcript};

use crate::encodings::{Encode, Encodings, Most, Written};

/// Writes a segment as its raw blocks, and counts how often.
#[derive(Default)]
struct Plain {
    written: std::sync::atomic::AtomicUsize,
}

impl Encode for &'static Plain {
    type Open = ();

    fn segment(&self, (): (), segment: &Segment, out: &mut Vec<u8>) -> Written<()> {
        self.written.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        for block in segment.blocks.iter() {
            out.extend_from_slice(block.raw().text().as_bytes());
        }
        Written { open: (), splice: None }
    }

    fn close(&self, (): ()) -> &'static [u8] {
        b""
    }
}

fn plain() -> &'static Plain {
    Box::leak(Box::default())
}

fn said(text: &str) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.push_prompt(&[Block::text(text)]);
    transcript
}

#[test]
fn a_segment_is_written_once() {
    let plain = plain();
    let encodings = Encodings::new(plain);
    let mut transcript = said("first");
    for round in 0..100 {
        transcript.push_note(&format!("note {round}"));
        encodings.share(&transcript, None, &mut Vec::new());
        encodings.share(&transcript, None, &mut Vec::new());
    }
    assert_eq!(plain.written.load(std::sync::atomic::Ordering::Relaxed), 101);
}

#[test]
fn only_so_many_conversations_are_kept() {
    let most = Most { conversations: 10, bytes: 1_000_000 };
    let encodings = Encodings::keeping(most, plain());
    let all: Vec<Transcript> = (0..25).map(|_| said("x")).collect();
    all.iter().for_each(|transcript| {
        encodings.share(transcript, None, &mut Vec::new());
    });
    assert_eq!(encodings.kept().0, 10);
}

#[test]
fn only_so_many_bytes_are_kept() {
    let most = Most { conversations: 10, bytes: 1_000 };
    let encodings = Encodings::keeping(most, plain());
    let all: Vec<Transcript> = (0..6).map(|_| said(&"x".repeat(240))).collect();
    all.iter().for_each(|transcript| {
        encodings.share(transcript, None, &mut Vec::new());
    });
    let (count, bytes) = encodings.kept();
    assert!((2..5).contains(&count) && bytes <= 1_000, "{count} with {bytes} bytes");
}

/// However many conversations there have been: what is over takes no room.
#[test]
fn conversations_that_are_over_are_forgotten() {
    let encodings = Encodings::new(plain());
    let alive: Vec<Transcript> = (0..20).map(|_| said("x")).collect();
    alive.iter().for_each(|transcript| encodings.share(transcript, None, &mut Vec::new()));
    for _ in 0..1_000 {
        encodings.share(&said("y"), None, &mut Vec::new());
    }
    let (count, bytes) = encodings.kept();
    assert!((20..=40).contains(&count), "{count}");
    assert_eq!(bytes, count * said("x").bytes() as usize);
}
