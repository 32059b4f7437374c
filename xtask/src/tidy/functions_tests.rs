use super::functions::{Function, functions};

#[test]
fn lines_are_counted_from_signature_to_brace() {
    let code = "\nfn one() {}\n\npub(crate) async fn two(\n    x: u8,\n) {\n    if x { y() }\n}\n";
    let one = Function { name: "one", line: 2, lines: 1 };
    let two = Function { name: "two", line: 4, lines: 5 };
    assert_eq!(functions(code), [one, two]);
}

#[test]
fn a_nested_function_counts_for_both() {
    let lines: Vec<_> = functions("fn a() {\nfn b() {\n}\n}").iter().map(|f| f.lines).collect();
    assert_eq!(lines, [4, 2]);
}

#[test]
fn what_has_no_body_is_not_a_function() {
    assert!(functions("trait T { fn a(&self, b: [u8; 4]) -> u8; }").is_empty());
    assert!(functions("type F = fn(u8) -> u8; fn $name() {}").is_empty());
}

#[test]
fn arrays_in_a_signature_do_not_end_it() {
    assert_eq!(functions("fn a(b: [u8; 4]) -> [u8; 2] {\n}")[0].lines, 2);
}
