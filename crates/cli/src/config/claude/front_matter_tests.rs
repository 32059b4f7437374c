//! Front matter as people write it.

use super::MarkdownPage;

fn page(head: &str) -> MarkdownPage {
    MarkdownPage::parse(&format!("---\n{head}\n---\n\nThe text.\n")).unwrap()
}

#[test]
fn a_page_is_its_head_and_its_text() {
    let page = page("name: reviewer\ndescription: \"Looks: at changes\"\n# a note\nmodel:");
    assert_eq!(page.get("name"), Some("reviewer"));
    assert_eq!(page.get("description"), Some("Looks: at changes"));
    assert_eq!((page.get("model"), page.get("colour")), (None, None));
    assert_eq!(page.body, "The text.");
    assert_eq!(MarkdownPage::parse("---\r\nname: a\r\n---").unwrap().get("name"), Some("a"));
}

#[test]
fn lists_and_long_values_come_in_every_form() {
    let words = ["Read", "Bash(git log:*)"].map(str::to_owned).to_vec();
    for head in [
        "tools: Read, Bash(git log:*)",
        "tools: [Read, \"Bash(git log:*)\"]",
        "tools:\n  - Read\n  - 'Bash(git log:*)'",
        "tools:\n- Read\n- Bash(git log:*)",
    ] {
        assert_eq!(page(head).list("tools"), Some(words.clone()), "{head}");
    }
    let folded = page("description: >\n  Looks at\n  changes.\nname: x");
    assert_eq!(folded.get("description"), Some("Looks at changes."));
    assert_eq!(page("name: x").list("tools"), None);
}

#[test]
fn what_is_no_head_is_told() {
    let told = |text: &str| MarkdownPage::parse(text).unwrap_err();
    assert!(told("# A page\n").contains("no front matter"));
    assert!(told("---\nname: x\n").contains("not closed"));
    assert!(told("---\njust words\n---\n").contains("just words"));
}
