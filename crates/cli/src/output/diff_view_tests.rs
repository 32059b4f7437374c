//! Output of a file change.

use windlass::tools::DiffHunk;

use super::diff_lines;
use crate::terminal::ColorSupport;

fn hunk(old_start: usize, new_start: usize, lines: &[&str]) -> DiffHunk {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    DiffHunk { old_start, old_lines: 0, new_start, new_lines: 0, lines }
}

#[test]
fn what_goes_and_what_comes_has_its_number_and_its_colour() {
    let change = [
        hunk(3, 3, &[" fn a() {", "-\told", "+    new", "+more", " }"]),
        hunk(90, 91, &["-x", "\\ No newline at end of file"]),
    ];
    let plain = diff_lines(&change, ColorSupport::Disabled);
    assert_eq!(
        plain,
        [
            "       3  fn a() {",
            "       4 -    old",
            "       4 +    new",
            "       5 +more",
            "       6  }",
            "          ⋮",
            "      90 -x",
            "           No newline at end of file",
        ]
    );
    let coloured = diff_lines(&change, ColorSupport::Enabled);
    assert!(coloured[1].starts_with("\u{1b}[31m"), "{coloured:?}");
    assert!(coloured[2].starts_with("\u{1b}[32m"), "{coloured:?}");
}

#[test]
fn a_long_change_is_cut_and_says_so_and_a_terminal_obeys_none_of_it() {
    let many: Vec<String> = (0..100).map(|n| format!("+line {n}\u{1b}[2J")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let shown = diff_lines(&[hunk(1, 1, &many)], ColorSupport::Disabled);
    assert_eq!(shown.len(), 17);
    assert_eq!(shown.last().map(|line| line.trim()), Some("… 84 more lines"));
    assert!(shown.iter().all(|line| !line.contains('\u{1b}')));
    let wide =
        diff_lines(&[hunk(1, 1, &[&format!("+{}", "w".repeat(5_000))])], ColorSupport::Disabled);
    assert!(wide[0].chars().count() < 130);
}
