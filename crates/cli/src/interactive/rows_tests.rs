use super::{fit_row, row_width, split_columns, without_colors};

#[test]
fn colors_take_no_columns_and_end_where_a_row_is_cut() {
    let row = "\u{1b}[1mbold 漢字\u{1b}[0m and more";
    assert_eq!(row_width(row), 18);
    assert_eq!(fit_row(row, 18), row);
    let cut = fit_row(row, 8);
    assert_eq!(without_colors(&cut), "bold 漢…");
    assert!(cut.ends_with("\u{1b}[0m"), "{cut:?}");
}

#[test]
fn long_lines_become_rows() {
    assert_eq!(split_columns("abcdef", 4), ["abcd", "ef"]);
    assert_eq!(split_columns("漢字漢字", 5), ["漢字", "漢字"]);
    assert_eq!(split_columns("", 5), [""]);
}
