use super::bounded_lines::BoundedLine;
use super::text_page::numbered_line;

#[test]
fn numbers_stand_in_six_columns_and_overflow_to_the_right() {
    for number in [0, 1, 9, 10, 99, 100, 12_345, 99_999, 100_000, 999_999, 1_000_000, u64::MAX] {
        let line = BoundedLine { bytes: b"text".to_vec(), omitted: 0 };
        assert_eq!(numbered_line(number, &line), format!("{number:>6}\ttext\n"));
    }
}

#[test]
fn what_is_left_out_of_a_line_is_said() {
    let line = BoundedLine { bytes: b"be".to_vec(), omitted: 7 };
    assert_eq!(numbered_line(3, &line), "     3\tbe[… 7 more bytes in this line]\n");
}
