//! Pages as the model reads them.

use crate::markdown::{decode_text, is_html, title_of, to_markdown};

#[test]
fn a_page_becomes_markdown_without_what_is_not_its_text() {
    let html = "<html><head><title> A  page </title><style>x{}</style></head><body><nav>menu</nav>\
                <h1>Hello</h1><p>Some <b>bold</b> <a href=\"https://e.com/x\">link</a>.</p>\
                <ul><li>one</li><li>two</li></ul><script>alert(1)</script></body></html>";
    let text = to_markdown(html);
    assert!(text.contains("# Hello") && text.contains("**bold**"), "{text}");
    assert!(text.contains("[link](https://e.com/x)") && text.contains("one"), "{text}");
    assert!(!text.contains("menu") && !text.contains("alert") && !text.contains("x{}"), "{text}");
    assert_eq!(title_of(html).as_deref(), Some("A page"));
}

#[test]
fn a_page_that_nests_without_end_is_plain_text() {
    for tag in ["<div>", "<b a=1>", "</z><div>", "<table><tr><td>"] {
        let text = to_markdown(&format!("{}deep", tag.repeat(200_000)));
        assert!(text.ends_with("deep"), "{tag}");
    }
    // Many elements beside each other are no nesting.
    let flat = "<p>one</p><br><img src=x><LI>two</li>".repeat(2_000);
    assert!(to_markdown(&flat).contains("one\n"));
}

#[test]
fn odd_bytes_are_text() {
    assert_eq!(decode_text(b"caf\xe9", "text/html; charset=iso-8859-1"), "caf\u{e9}");
    assert_eq!(decode_text(b"caf\xe9", "text/html"), "caf\u{fffd}");
    assert!(
        is_html("", "  <!DOCTYPE html><p>")
            && !is_html("", "plain")
            && !is_html("text/plain", "<html>")
    );
    for odd in ["<", "<<<>>>", "</", "<title", "\u{0}<p", "&#x110000;", "<!--"] {
        let _ = to_markdown(odd);
        let _ = title_of(odd);
    }
}
