use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn a_token_is_created_once_and_only_its_owner_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/token");
    AccessToken::read_or_create(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.trim_end().len(), TOKEN_PREFIX.len() + 64, "256 bits");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let again = AccessToken::read_or_create(&path).unwrap();
    assert!(again.matches(text.trim_end()) && !again.matches(&text));
    assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    let other = folder.path().join("other");
    AccessToken::read_or_create(&other).unwrap();
    assert_ne!(text, std::fs::read_to_string(&other).unwrap());
}

#[test]
fn a_file_that_others_can_read_or_that_holds_no_token_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, "x".repeat(40)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(AccessToken::read(&path), Err(TokenError::NotPrivate { .. })));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    AccessToken::read(&path).unwrap();
    for text in ["short", "", &"x".repeat(600), &format!("two\n{}", "x".repeat(40))] {
        std::fs::write(&path, text).unwrap();
        assert!(matches!(AccessToken::read(&path), Err(TokenError::NotAToken { .. })), "{text}");
    }
}

#[test]
fn no_part_of_a_token_is_printed() {
    assert_eq!(format!("{:?}", AccessToken::from_text("secret")), "AccessToken(…)");
}
