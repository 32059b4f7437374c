//! Which custom commands there are, and what their pages provide.

use std::path::Path;

use super::{CustomCommand, FileOwner, TrustState, list_commands, merge_commands};

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn names(customs: &[CustomCommand]) -> Vec<&str> {
    customs.iter().map(|custom| custom.name.as_str()).collect()
}

#[test]
fn a_command_is_named_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["fix.md", "git/commit.md", "git/deep/er.md", "notes.txt", "a b.md", ".hidden.md"] {
        write(folder.path(), name, "Do it.");
    }
    let customs = list_commands(folder.path(), "", FileOwner::Project, TrustState::Trusted);
    assert_eq!(names(&customs), ["fix", "git:commit", "git:deep:er"]);
}

#[test]
fn a_page_with_a_head_and_one_without() {
    let folder = tempfile::tempdir().unwrap();
    let head = "---\ndescription: Fixes it\nargument-hint: [issue]\nallowed-tools: Bash(git add:*), \
                Read\nmodel: haiku\n---\n\nFix $1.\n";
    write(folder.path(), "fix.md", head);
    write(folder.path(), "plain.md", "# Look around\n\nand tell.\n");
    write(folder.path(), "void.md", "---\nmodel: x\n---\n");
    let given = list_commands(folder.path(), "", FileOwner::Project, TrustState::Trusted);
    let fix = given[0].read_page().unwrap();
    assert_eq!((fix.description.as_str(), fix.prompt.as_str()), ("Fixes it", "Fix $1."));
    assert_eq!(fix.argument_hint.as_deref(), Some("[issue]"));
    assert_eq!(fix.rules.as_deref(), Some("Bash(git add:*), Read"));
    assert_eq!((fix.model.as_deref(), fix.ignored_fields.len()), (Some("haiku"), 0));
    let plain = given[1].read_page().unwrap();
    assert_eq!((plain.description.as_str(), plain.rules), ("Look around", None));
    assert!(given[2].read_page().unwrap_err().contains("no prompt text"));
    // An untrusted folder provides the text only.
    let fix = list_commands(folder.path(), "", FileOwner::Project, TrustState::Untrusted)[0]
        .read_page()
        .unwrap();
    assert_eq!((fix.prompt.as_str(), fix.rules, fix.model), ("Fix $1.", None, None));
    assert_eq!(fix.ignored_fields, ["allowed-tools", "model"]);
}

#[test]
fn a_folder_hides_the_users_own_only_if_it_is_trusted() {
    let (user, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(user.path(), "deploy.md", "mine");
    write(project.path(), "deploy.md", "theirs");
    write(project.path(), "build.md", "theirs");
    for (trust, words) in [(TrustState::Trusted, "theirs"), (TrustState::Untrusted, "mine")] {
        let both = (
            list_commands(user.path(), "", FileOwner::Project, TrustState::Trusted),
            list_commands(project.path(), "", FileOwner::Project, trust),
        );
        let customs = merge_commands(both.0, both.1, trust);
        assert_eq!(names(&customs), ["build", "deploy"]);
        assert_eq!(customs[1].read_page().unwrap().prompt, words);
    }
}
