use std::sync::Arc;

use windlass::ports::{CallProgress, ProgressStep};

use super::LiveTail;

fn printed(output: &str) -> CallProgress {
    CallProgress { output: Arc::from(output), ..CallProgress::default() }
}

fn tail_of(pieces: &[&str]) -> Vec<String> {
    let mut tail = LiveTail::default();
    pieces.iter().for_each(|piece| tail.push(&printed(piece)));
    tail.lines().map(str::to_owned).collect()
}

#[test]
fn the_last_lines_are_kept() {
    assert_eq!(tail_of(&["a\nb", "c\n", "d"]), ["a", "bc", "d"]);
    let many: String = (0..100).map(|line| format!("{line}\n")).collect();
    assert_eq!(tail_of(&[&many]), ["95", "96", "97", "98", "99"]);
}

#[test]
fn a_line_that_is_written_again_shows_its_last_text() {
    assert_eq!(tail_of(&["10 %\r", "20 %\r90", " %\n", "done"]), ["90 %", "done"]);
}

#[test]
fn a_line_after_a_gap_is_a_new_one() {
    let mut tail = LiveTail::default();
    tail.push(&printed("begin"));
    tail.push(&CallProgress { omitted_bytes: 7, ..printed("end") });
    assert_eq!(tail.lines().collect::<Vec<_>>(), ["begin", "end"]);
}

#[test]
fn a_step_comes_last() {
    let mut tail = LiveTail::default();
    let step = ProgressStep { done: 2.0, total: Some(8.0), text: Some(Arc::from("unpacking")) };
    tail.push(&CallProgress { step: Some(step), ..printed("x\n") });
    assert_eq!(tail.lines().collect::<Vec<_>>(), ["x", "2 of 8: unpacking"]);
}
