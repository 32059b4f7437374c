use super::{Composer, Draft};
use crate::interactive::key_decoder::Key;

fn type_in(composer: &mut Composer, text: &str) {
    text.chars().for_each(|c| _ = composer.on_key(&Key::Char(c)));
}

#[test]
fn the_path_of_an_image_is_attached() {
    let cases = [
        ("/tmp/shot.png", "@/tmp/shot.png "),
        ("'/tmp/my shot.PNG'", "@\"/tmp/my shot.PNG\" "),
        ("/tmp/my\\ shot.jpg ", "@\"/tmp/my shot.jpg\" "),
        ("file:///tmp/a.webp", "@/tmp/a.webp "),
        ("see a.png", "see a.png"),
        ("/tmp/notes.txt", "/tmp/notes.txt"),
    ];
    for (pasted, shown) in cases {
        let mut composer = Composer::new(Vec::new());
        composer.on_key(&Key::Paste(pasted.to_owned()));
        assert_eq!(composer.buffer.text(), shown);
    }
}

#[test]
fn a_long_paste_is_a_placeholder_until_it_is_sent() {
    let mut composer = Composer::default();
    let paste = "line\n".repeat(1_000);
    type_in(&mut composer, "look: ");
    composer.on_key(&Key::Paste(paste.clone()));
    assert_eq!(composer.buffer.text(), "look: [Pasted text #1: 1,000 lines]");
    let draft = composer.draft(&[], &[]);
    let mut restored = Composer::default();
    restored.restore(&draft);
    assert_eq!(restored.submit(), format!("look: {paste}"));
    composer.on_key(&Key::Backspace);
    assert_eq!(composer.buffer.text(), "look: ");
    composer.on_key(&Key::Paste("short\nlines".to_owned()));
    assert_eq!(composer.submit(), "look: short\nlines");
    assert_eq!(composer.draft(&[], &[]), Draft::default());
}

#[test]
fn the_history_is_walked_and_searched() {
    let mut composer = Composer::new(vec!["fix the bug".to_owned(), "run tests".to_owned()]);
    type_in(&mut composer, "new");
    composer.on_key(&Key::Up);
    composer.on_key(&Key::Up);
    composer.on_key(&Key::Up);
    assert_eq!(composer.buffer.text(), "fix the bug");
    composer.on_key(&Key::Down);
    composer.on_key(&Key::Down);
    assert_eq!(composer.buffer.text(), "new");
    composer.on_key(&Key::Ctrl('r'));
    type_in(&mut composer, "BUG");
    assert_eq!(composer.buffer.text(), "fix the bug");
    composer.on_key(&Key::Escape);
    assert_eq!(composer.buffer.text(), "new");
    composer.on_key(&Key::Ctrl('r'));
    type_in(&mut composer, "t");
    composer.on_key(&Key::Ctrl('r'));
    composer.on_key(&Key::Enter);
    assert_eq!(composer.submit(), "fix the bug");
}
