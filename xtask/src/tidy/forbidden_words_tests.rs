use super::forbidden_words::findings;
use super::source_tree::SourceTree;

fn found_in(path: &str, text: &str) -> Vec<String> {
    findings(&SourceTree::from([(path, text)])).iter().map(ToString::to_string).collect()
}

fn found(text: &str) -> Vec<String> {
    found_in("crates/core/src/stop.rs", text)
}

#[test]
fn ordinary_text_passes() {
    assert!(found("#[expect(dead_code, reason = \"x\")]\nfn f() {}\n").is_empty());
    assert!(found("#[serde(tag = \"kind\", rename_all = \"snake_case\")]\nenum E {}").is_empty());
}

#[test]
fn every_word_of_code_is_found() {
    for text in [
        "fn f() { todo!() }",
        "#[test]\n#[ignore]\nfn f() {}",
        "#[ignore = \"slow\"]",
        "#[allow(dead_code)]",
        "#![allow(dead_code)]",
        "#[serde(flatten)]",
        "#[serde(default, flatten)]",
        "#[serde(\n    untagged,\n)]",
    ] {
        assert_eq!(found(text).len(), 1, "{text}: {:?}", found(text));
    }
}

#[test]
fn the_line_is_named() {
    let found = found("//! Docs.\n\n#[allow(dead_code)]\nfn f() {}\n");
    assert!(found[0].starts_with("crates/core/src/stop.rs:3: "), "{found:?}");
}

#[test]
fn words_of_code_may_be_spoken_of() {
    let text = "never todo!( or #[allow( or serde(flatten)";
    assert!(found_in("CONTRIBUTING.md", text).is_empty());
    assert!(found(&format!("// {text}\nlet s = \"{text}\";")).is_empty());
}

#[test]
fn notes_to_self_are_found_everywhere() {
    let text = format!("// {}: later\n", concat!("FIX", "ME"));
    assert_eq!(found(&text).len(), 1);
    assert_eq!(found_in("README.md", &text).len(), 1);
}

#[test]
fn folders_of_one_machine_are_found_in_any_text() {
    for home in [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")] {
        for text in [format!("cd {home}x"), format!("\"{home}x\""), format!("file://{home}x")] {
            assert_eq!(found_in("README.md", &text).len(), 1, "{text}");
        }
    }
}

#[test]
fn folders_of_that_name_inside_the_repository_are_not() {
    for prefix in ["src", "{folder}", "$ROOT", "~", "."] {
        let text = format!("{prefix}{}x", concat!("/ho", "me/"));
        assert!(found_in("README.md", &text).is_empty(), "{text}");
    }
}
