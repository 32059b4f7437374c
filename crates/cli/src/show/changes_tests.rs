//! How a change looks.

use windlass::tools::Hunk;

use super::lines;
use crate::show::terminal::Colours;

fn hunk(old_start: usize, new_start: usize, lines: &[&str]) -> Hunk {
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    Hunk { old_start, old_lines: 0, new_start, new_lines: 0, lines }
}

#[test]
fn what_goes_and_what_comes_has_its_number_and_its_colour() {
    let change = [
        hunk(3, 3, &[" fn a() {", "-\told", "+    new", "+more", " }"]),
        hunk(90, 91, &["-x", "\\ No newline at end of file"]),
    ];
    let plain = lines(&change, Colours::Plain);
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
    let coloured = lines(&change, Colours::Shown);
    assert!(coloured[1].starts_with("\u{1b}[31m"), "{coloured:?}");
    assert!(coloured[2].starts_with("\u{1b}[32m"), "{coloured:?}");
}

#[test]
fn a_long_change_is_cut_and_says_so_and_a_terminal_obeys_none_of_it() {
    let many: Vec<String> = (0..100).map(|n| format!("+line {n}\u{1b}[2J")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let shown = lines(&[hunk(1, 1, &many)], Colours::Plain);
    assert_eq!(shown.len(), 17);
    assert_eq!(shown.last().map(|line| line.trim()), Some("… 84 more lines"));
    assert!(shown.iter().all(|line| !line.contains('\u{1b}')));
    let wide = lines(&[hunk(1, 1, &[&format!("+{}", "w".repeat(5_000))])], Colours::Plain);
    assert!(wide[0].chars().count() < 130);
}
