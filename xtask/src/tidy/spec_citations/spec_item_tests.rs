use crate::tidy::source_tree::SourceTree;

use super::spec_item::{ItemState, SpecItem, find_items};

fn read(path: &str, text: &str) -> Vec<Result<SpecItem, String>> {
    let items = find_items(&SourceTree::from([(path, text)]));
    items.into_iter().map(|item| item.map_err(|finding| finding.to_string())).collect()
}

fn item(id: &str, state: ItemState, line: usize) -> SpecItem {
    SpecItem { id: id.to_owned(), state, path: "spec/stop.md".to_owned(), line }
}

#[test]
fn both_boxes_are_read() {
    let text =
        "# Stop\n\n- [x] **STOP-01** ends [S3-1]\n  and more\n- [ ] **STOP-02** later [S3-2]\n";
    let expected =
        [item("STOP-01", ItemState::Implemented, 3), item("STOP-02", ItemState::Promised, 5)];
    assert_eq!(read("spec/stop.md", text), expected.map(Ok));
}

#[test]
fn a_box_without_an_id_is_wrong() {
    for line in ["- [x] ends", "- [ ] **Stop** x", "- [x] STOP-01 x", "- [x] **STOP-01 x"] {
        let read = read("spec/stop.md", line);
        let error = read[0].as_ref().unwrap_err();
        assert!(error.starts_with("spec/stop.md:1: an item needs an id"), "{line}: {error}");
    }
}

#[test]
fn a_box_with_anything_else_in_it_is_wrong() {
    for line in ["- [X] **STOP-01** x", "- [] **STOP-01** x", "- [~] **STOP-01** x"] {
        assert!(read("spec/stop.md", line)[0].is_err(), "{line}");
    }
}

#[test]
fn other_lines_and_examples_are_not_items() {
    let text = "- [a link](x.md)\n- [y](z.md)\n- plain\n```\n- [x] nothing\n```\n";
    assert!(read("spec/stop.md", text).is_empty(), "{:?}", read("spec/stop.md", text));
}

#[test]
fn other_pages_make_no_promises() {
    assert!(read("README.md", "- [x] **STOP-01** x").is_empty());
    assert!(read("spec/notes.txt", "- [x] **STOP-01** x").is_empty());
}
