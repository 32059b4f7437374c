use super::*;

#[test]
fn items_are_unfolded_from_the_newest_back() {
    let mut folded = FoldedItems::default();
    assert!(folded.unfold_next().is_empty());
    folded.add("Bash one", "first");
    folded.add("Bash two", "second");
    folded.add("Bash three", "");
    assert_eq!(folded.unfold_next(), ["── Bash two ", "   second"]);
    assert_eq!(folded.unfold_next(), ["── Bash one (2 of 2) ", "   first"]);
    assert!(folded.unfold_next().is_empty());
    assert_eq!(folded.unfold_next(), ["── Bash two ", "   second"]);
    folded.add("Bash four", &"line\n".repeat(MAX_LINES + 5));
    let lines = folded.unfold_next();
    assert_eq!(lines.first().map(String::as_str), Some("── Bash four "));
    assert_eq!(lines.last().map(String::as_str), Some("   … 5 more lines"));
}

#[test]
fn the_number_of_items_is_bounded() {
    let mut folded = FoldedItems::default();
    for nth in 0..MAX_ITEMS + 10 {
        folded.add(&format!("{nth}"), "text");
    }
    let mut shown = 0;
    while !folded.unfold_next().is_empty() {
        shown += 1;
    }
    assert_eq!(shown, MAX_ITEMS);
}
