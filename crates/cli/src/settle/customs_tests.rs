//! Which commands there are, and what their pages give.

use std::path::Path;

use super::{Custom, Owner, Trust, found, merged};

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn names(customs: &[Custom]) -> Vec<&str> {
    customs.iter().map(|custom| custom.name.as_str()).collect()
}

#[test]
fn a_command_is_named_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["fix.md", "git/commit.md", "git/deep/er.md", "notes.txt", "a b.md", ".hidden.md"] {
        write(folder.path(), name, "Do it.");
    }
    let customs = found(folder.path(), "", Owner::Project, Trust::Given);
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
    let given = found(folder.path(), "", Owner::Project, Trust::Given);
    let fix = given[0].open().unwrap();
    assert_eq!((fix.about.as_str(), fix.prompt.as_str()), ("Fixes it", "Fix $1."));
    assert_eq!(fix.hint.as_deref(), Some("[issue]"));
    assert_eq!(fix.rules.as_deref(), Some("Bash(git add:*), Read"));
    assert_eq!((fix.model.as_deref(), fix.ignored.len()), (Some("haiku"), 0));
    let plain = given[1].open().unwrap();
    assert_eq!((plain.about.as_str(), plain.rules), ("Look around", None));
    assert!(given[2].open().unwrap_err().contains("no prompt text"));
    // Nobody trusts the folder: the words stay, what they ask for does not.
    let fix = found(folder.path(), "", Owner::Project, Trust::Missing)[0].open().unwrap();
    assert_eq!((fix.prompt.as_str(), fix.rules, fix.model), ("Fix $1.", None, None));
    assert_eq!(fix.ignored, ["allowed-tools", "model"]);
}

#[test]
fn a_folder_hides_the_users_own_only_if_it_is_trusted() {
    let (user, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(user.path(), "deploy.md", "mine");
    write(project.path(), "deploy.md", "theirs");
    write(project.path(), "build.md", "theirs");
    for (trust, words) in [(Trust::Given, "theirs"), (Trust::Missing, "mine")] {
        let both = (
            found(user.path(), "", Owner::Project, Trust::Given),
            found(project.path(), "", Owner::Project, trust),
        );
        let customs = merged(both.0, both.1, trust);
        assert_eq!(names(&customs), ["build", "deploy"]);
        assert_eq!(customs[1].open().unwrap().prompt, words);
    }
}
