//! Where a mention starts and ends, and what it attaches.

use windlass::core::log::ids::LaneId;
use windlass::core::message::content_block::{BlockKind, ContentBlock};
use windlass::tools::ToolContext;

use super::{find_mentions, prompt_blocks};

#[test]
fn a_mention_begins_a_word_and_ends_with_it() {
    let found = |text| find_mentions(text).collect::<Vec<_>>();
    assert_eq!(found("look at @a.txt and (@src/b.rs)"), ["a.txt", "src/b.rs)"]);
    assert_eq!(found("@\"two words.txt\" @x"), ["two words.txt", "x"]);
    assert!(found("me@example.org and @ and @\"open").is_empty());
}

fn texts(prompt: &str, files: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let workplace = ToolContext::new(folder.path());
    let text = |block: &ContentBlock| match block.kind() {
        BlockKind::Text(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    prompt_blocks(prompt, &workplace, &LaneId::from("c")).iter().map(text).collect()
}

// spec: CLI-02
#[test]
fn a_file_goes_with_the_prompt_once_and_the_words_stay() {
    let prompt = "Is @a.txt (see @a.txt) like @b, or like @nobody?";
    let lines = texts(prompt, &[("a.txt", "alpha"), ("b", "beta")]);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].contains("a.txt") && lines[0].contains("alpha"), "{lines:?}");
    assert!(lines[1].contains("beta"), "{lines:?}");
    assert_eq!(lines[2], prompt);
}

#[test]
fn what_names_nothing_is_only_text() {
    let prompt = "ask @alice about @param and @gone.txt";
    assert_eq!(texts(prompt, &[]), [prompt]);
}
