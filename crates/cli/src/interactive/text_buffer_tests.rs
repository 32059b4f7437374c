use super::TextBuffer;

fn typed(text: &str) -> TextBuffer {
    let mut buffer = TextBuffer::default();
    text.chars().for_each(|c| buffer.insert(c.encode_utf8(&mut [0; 4])));
    buffer
}

#[test]
fn typed_text_is_undone_as_one_change() {
    let mut buffer = typed("hello");
    buffer.kill_word_before();
    assert_eq!(buffer.text(), "");
    buffer.undo();
    assert_eq!(buffer.text(), "hello");
    buffer.undo();
    assert_eq!(buffer.text(), "");
}

#[test]
fn visible_characters_are_deleted_as_a_whole() {
    for c in ["e\u{301}", "👩‍🚀", "👍🏽", "ü", "漢"] {
        let mut buffer = TextBuffer::default();
        buffer.insert(&format!("a{c}"));
        buffer.backspace();
        assert_eq!(buffer.text(), "a", "{c}");
        buffer.undo();
        buffer.move_to_start();
        buffer.right();
        buffer.delete_next();
        assert_eq!(buffer.text(), "a", "{c}");
    }
}

#[test]
fn words_and_lines_are_killed_and_yanked() {
    let mut buffer = typed("one two/three\nfour");
    buffer.kill_to_line_start();
    assert_eq!(buffer.text(), "one two/three\n");
    buffer.yank();
    assert!(buffer.up());
    assert_eq!(buffer.before().len(), 4);
    buffer.kill_to_line_end();
    assert_eq!(buffer.text(), "one \nfour");
    buffer.kill_blank_word_before();
    assert_eq!(buffer.text(), "\nfour");
    buffer.kill_to_line_end();
    assert_eq!(buffer.text(), "four");
    buffer.word_right();
    assert_eq!(buffer.before().len(), 4);
}

#[test]
fn lines_above_and_below_keep_the_column() {
    let mut buffer = typed("long line\nab\nanother one");
    assert!(buffer.up());
    assert_eq!(buffer.before(), "long line\nab");
    assert!(buffer.up());
    assert_eq!(buffer.before(), "lo");
    assert!(!buffer.up());
    assert!(buffer.down() && buffer.down() && !buffer.down());
    assert_eq!(buffer.before(), "long line\nab\nan");
}
