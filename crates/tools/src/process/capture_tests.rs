use super::capture::HeadTailCapture;
use crate::limits::{HEAD_BYTES, TAIL_BYTES};

fn capture_text(pieces: &[&[u8]]) -> String {
    let mut capture = HeadTailCapture::default();
    pieces.iter().for_each(|chunk| capture.push(chunk));
    capture.to_text()
}

#[test]
fn what_fits_is_kept_whole() {
    assert_eq!(capture_text(&[]), "");
    assert_eq!(capture_text(&[b"one ", b"two"]), "one two");
    let all = vec![b'x'; HEAD_BYTES + TAIL_BYTES];
    assert_eq!(capture_text(&[&all]).len(), all.len());
}

#[test]
fn a_character_across_head_and_tail_stays_whole() {
    let mut bytes = vec![b'x'; HEAD_BYTES - 1];
    bytes.extend_from_slice("😀".as_bytes());
    assert!(capture_text(&[&bytes]).ends_with("x😀"));
}

#[test]
fn what_does_not_fit_is_counted() {
    let text = capture_text(&[&vec![b'h'; HEAD_BYTES], b"gone", &vec![b't'; TAIL_BYTES]]);
    let (head, tail) = text.split_once("\n[… 4 bytes omitted …]\n").unwrap();
    assert!(head.bytes().all(|byte| byte == b'h') && head.len() == HEAD_BYTES);
    assert!(tail.bytes().all(|byte| byte == b't') && tail.len() == TAIL_BYTES);
}

#[test]
fn pieces_of_any_size_give_the_same() {
    let bytes: Vec<u8> = (0..1_000_000u32).map(|n| b'a' + (n % 26) as u8).collect();
    let whole = capture_text(&[&bytes]);
    for size in [1, 7, 4_096, TAIL_BYTES, TAIL_BYTES + 1] {
        let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
        assert_eq!(capture_text(&pieces), whole, "{size}");
    }
}

#[test]
fn a_cut_tears_no_character() {
    for shift in 0..4 {
        let mut bytes = vec![b'.'; shift];
        bytes.extend("😀".repeat(200_000).bytes());
        let text = capture_text(&[&bytes]);
        assert!(!text.contains('\u{fffd}'), "{shift}");
        let kept = text.matches('😀').count();
        let omitted = text.split(' ').find_map(|word| word.parse::<usize>().ok()).unwrap();
        assert_eq!(kept * 4 + omitted, 800_000, "{shift}");
    }
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    assert_eq!(capture_text(&[b"a\xff\0b"]), "a\u{fffd}\0b");
    let noise = vec![0xff; HEAD_BYTES + TAIL_BYTES + 1];
    assert!(capture_text(&[&noise]).contains("[… 1 bytes omitted …]"));
}
