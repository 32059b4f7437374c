use std::io::{BufReader, ErrorKind, Read};

use super::bounded_lines::{BoundedLine, BoundedLines};
use crate::limits::{MAX_LINE_BYTES, MAX_SCAN_BYTES};

fn lines(text: &str, buffer: usize) -> Vec<String> {
    let mut lines = BoundedLines::new(BufReader::with_capacity(buffer, text.as_bytes()));
    let next = || lines.next().unwrap().map(|line| String::from_utf8(line.bytes.clone()).unwrap());
    std::iter::from_fn(next).collect()
}

#[test]
fn lines_are_lines_whatever_the_buffer() {
    for buffer in [1, 2, 3, 64] {
        assert_eq!(lines("", buffer), [""; 0]);
        assert_eq!(lines("\n", buffer), [""]);
        assert_eq!(lines("a\n\nb", buffer), ["a", "", "b"]);
        assert_eq!(lines("a\nb\n", buffer), ["a", "b"]);
    }
}

#[test]
fn a_long_line_keeps_its_beginning_and_counts_the_rest() {
    let text = format!("{}\nnext", "x".repeat(MAX_LINE_BYTES + 7));
    let mut lines = BoundedLines::new(text.as_bytes());
    let mut line = BoundedLine { bytes: vec![b'x'; MAX_LINE_BYTES], omitted: 7 };
    assert_eq!(lines.next().unwrap(), Some(&mut line));
    let mut next = BoundedLine { bytes: b"next".to_vec(), omitted: 0 };
    assert_eq!(lines.next().unwrap(), Some(&mut next));
}

#[test]
fn an_endless_line_comes_to_an_end() {
    let endless = BufReader::with_capacity(1 << 20, std::io::repeat(b'x').take(u64::MAX));
    let error = BoundedLines::new(endless).skip_line().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert_eq!(MAX_SCAN_BYTES, 256 << 20);
}
