//! Hunks are those of `diff -u`, for small changes and for huge files.

use proptest::prelude::*;

use super::patch::{DiffHunk, diff_hunks, encode_patch};
use crate::limits::MAX_PATCH_BYTES;

fn numbered(count: usize) -> String {
    (1..=count).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn a_change_stands_between_three_lines_on_either_side() {
    let before = numbered(20);
    let after = before.replace("line 10\n", "line ten\nand a half\n");
    let expected = DiffHunk {
        old_start: 7,
        old_lines: 7,
        new_start: 7,
        new_lines: 8,
        lines: [
            " line 7",
            " line 8",
            " line 9",
            "-line 10",
            "+line ten",
            "+and a half",
            " line 11",
            " line 12",
            " line 13",
        ]
        .map(str::to_owned)
        .to_vec(),
    };
    assert_eq!(diff_hunks(&before, &after), [expected]);
    assert_eq!(diff_hunks(&before, &before), []);
}

#[test]
fn changes_far_apart_are_hunks_of_their_own() {
    let before = numbered(100);
    let after = before.replace("line 5\n", "").replace("line 90\n", "line 90\nnew\n");
    let found = diff_hunks(&before, &after);
    let places: Vec<_> = found.iter().map(|hunk| (hunk.old_start, hunk.new_start)).collect();
    assert_eq!(places, [(2, 2), (88, 87)]);
}

#[test]
fn a_line_that_is_not_ended_says_so() {
    let found = diff_hunks("a\nb", "a\nb\n");
    let expected = [" a", "-b", "\\ No newline at end of file", "+b"];
    assert_eq!(
        found.first().map(|hunk| hunk.lines.clone()),
        Some(expected.map(str::to_owned).to_vec())
    );
}

#[test]
fn spelling_and_line_ends_are_no_change() {
    let marked = "\u{feff}a\r\nb\r\n".as_bytes();
    let found: Vec<DiffHunk> =
        encode_patch(marked, "\u{feff}a\r\nc\r\n".as_bytes()).read().unwrap();
    assert_eq!(found.first().map(|hunk| hunk.lines.join("|")), Some(" a|-b|+c".to_owned()));
}

#[test]
fn a_patch_of_a_huge_file_is_bounded_and_what_stands_is_whole() {
    let lines = |offset: usize| -> String {
        (0..400_000).map(|n| format!("{}\n", (n * 7_919 + offset) % 1_000_003)).collect()
    };
    let patch = encode_patch(lines(0).as_bytes(), lines(1).as_bytes());
    assert!(patch.text().len() < 2 * MAX_PATCH_BYTES, "{}", patch.text().len());
    let found: Vec<DiffHunk> = patch.read().unwrap();
    for hunk in found {
        let count = |sign: char| hunk.lines.iter().filter(|line| line.starts_with(sign)).count();
        assert_eq!(count('-') + count(' '), hunk.old_lines);
        assert_eq!(count('+') + count(' '), hunk.new_lines);
    }
}

/// Applies the hunks to the old text and returns the new one.
fn patched(before: &str, hunks: &[DiffHunk]) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let mut new: Vec<String> = Vec::new();
    let mut at = 0;
    for hunk in hunks {
        new.extend(old[at..hunk.old_start - 1].iter().map(|line| (*line).to_owned()));
        assert_eq!(new.len(), hunk.new_start - 1);
        let mut latest = ' ';
        for line in &hunk.lines {
            let (sign, text) = line.split_at(1);
            match sign {
                "\\" if latest != '-' => drop(new.last_mut().map(String::pop)),
                "\\" => {}
                "-" => latest = '-',
                _ => {
                    new.push(format!("{text}\n"));
                    latest = '+';
                }
            }
        }
        at = hunk.old_start - 1 + hunk.old_lines;
    }
    new.extend(old[at..].iter().map(|line| (*line).to_owned()));
    new.concat()
}

proptest! {
    #[test]
    fn the_hunks_lead_from_one_text_to_the_other(before in "[ab\n]{0,60}", after in "[ab\n]{0,60}") {
        prop_assert_eq!(patched(&before, &diff_hunks(&before, &after)), after);
    }
}
