use super::{CompletionKind, completed_part};

#[test]
fn commands_are_completed_at_the_beginning_and_paths_everywhere() {
    assert_eq!(completed_part("/he"), Some((CompletionKind::Command, 0, "/he")));
    assert_eq!(completed_part("/help me"), None);
    assert_eq!(completed_part("look at @src/m"), Some((CompletionKind::Mention, 8, "@src/m")));
    assert_eq!(completed_part("mail me@home"), None);
    assert_eq!(completed_part(""), None);
}
