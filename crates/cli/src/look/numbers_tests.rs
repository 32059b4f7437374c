use super::percent;

#[test]
fn shares_are_rounded() {
    let shown = [(61, 63), (2, 63), (1, 3), (2, 3), (0, 0), (1, 0), (5, 5), (1, 8_000_000)];
    let shown = shown.map(|(part, whole)| percent(part, whole));
    assert_eq!(
        shown,
        ["96.83 %", "3.17 %", "33.33 %", "66.67 %", "0.00 %", "0.00 %", "100.00 %", "0.00 %"]
    );
    assert_eq!(percent(usize::MAX, usize::MAX), "100.00 %");
}
