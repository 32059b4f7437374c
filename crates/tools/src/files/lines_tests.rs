use std::io::{BufReader, ErrorKind, Read};

use super::lines::{Line, Lines};
use crate::limits::{MAX_LINE_BYTES, MAX_SCAN_BYTES};

fn lines(text: &str, buffer: usize) -> Vec<String> {
    let mut lines = Lines::new(BufReader::with_capacity(buffer, text.as_bytes()));
    let next = || lines.next().unwrap().map(|line| String::from_utf8(line.kept.clone()).unwrap());
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
    let mut lines = Lines::new(text.as_bytes());
    let mut line = Line { kept: vec![b'x'; MAX_LINE_BYTES], omitted: 7 };
    assert_eq!(lines.next().unwrap(), Some(&mut line));
    let mut next = Line { kept: b"next".to_vec(), omitted: 0 };
    assert_eq!(lines.next().unwrap(), Some(&mut next));
}

#[test]
fn an_endless_line_comes_to_an_end() {
    let endless = BufReader::with_capacity(1 << 20, std::io::repeat(b'x').take(u64::MAX));
    let error = Lines::new(endless).skip().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileTooLarge);
    assert_eq!(MAX_SCAN_BYTES, 256 << 20);
}
