use super::{count_irregular_noun, count_noun, format_percent};

#[test]
fn shares_are_rounded() {
    let shown = [(61, 63), (2, 63), (1, 3), (2, 3), (0, 0), (1, 0), (5, 5), (1, 8_000_000)];
    let shown = shown.map(|(part, whole)| format_percent(part, whole));
    assert_eq!(
        shown,
        ["96.83 %", "3.17 %", "33.33 %", "66.67 %", "0.00 %", "0.00 %", "100.00 %", "0.00 %"]
    );
    assert_eq!(format_percent(usize::MAX, usize::MAX), "100.00 %");
}

#[test]
fn one_thing_is_not_several() {
    assert_eq!(
        (count_noun(1, "run"), count_noun(0, "run")),
        ("1 run".to_owned(), "0 runs".to_owned())
    );
    let entries = |count| count_irregular_noun(count, "entry", "entries");
    assert_eq!((entries(1), entries(1_200)), ("1 entry".to_owned(), "1,200 entries".to_owned()));
}
