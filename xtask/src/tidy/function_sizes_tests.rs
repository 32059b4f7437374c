use super::function_sizes::{FunctionSize, find_functions};

#[test]
fn lines_are_counted_from_signature_to_brace() {
    let code = "\nfn one() {}\n\npub(crate) async fn two(\n    x: u8,\n) {\n    if x { y() }\n}\n";
    let one = FunctionSize { name: "one", line: 2, lines: 1 };
    let two = FunctionSize { name: "two", line: 4, lines: 5 };
    assert_eq!(find_functions(code), [one, two]);
}

#[test]
fn a_nested_function_counts_for_both() {
    let lines: Vec<_> =
        find_functions("fn a() {\nfn b() {\n}\n}").iter().map(|f| f.lines).collect();
    assert_eq!(lines, [4, 2]);
}

#[test]
fn what_has_no_body_is_not_a_function() {
    assert!(find_functions("trait T { fn a(&self, b: [u8; 4]) -> u8; }").is_empty());
    assert!(find_functions("type F = fn(u8) -> u8; fn $name() {}").is_empty());
}

#[test]
fn arrays_in_a_signature_do_not_end_it() {
    assert_eq!(find_functions("fn a(b: [u8; 4]) -> [u8; 2] {\n}")[0].lines, 2);
}
