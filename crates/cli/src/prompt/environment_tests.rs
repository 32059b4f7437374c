use super::*;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

#[test]
fn branch_and_commit_are_read_from_files() {
    let state = |files: &[(&str, &str)], below: &str| {
        let folder = folder(files);
        std::fs::create_dir_all(folder.path().join(below)).unwrap();
        let state = read_git_state(&folder.path().join(below));
        state.map(|state| (state.branch, state.commit))
    };
    let known = |branch: Option<&str>, commit: Option<&str>| {
        Some((branch.map(str::to_owned), commit.map(str::to_owned)))
    };
    let head = (".git/HEAD", "ref: refs/heads/feature/a\n");
    let short = Some("0123456789");
    assert_eq!(
        state(&[head, (".git/refs/heads/feature/a", COMMIT)], "src"),
        known(Some("feature/a"), short)
    );
    let packed = format!("# pack-refs\n{COMMIT} refs/heads/feature/a\n");
    assert_eq!(state(&[head, (".git/packed-refs", &packed)], ""), known(Some("feature/a"), short));
    assert_eq!(state(&[head], ""), known(Some("feature/a"), None));
    assert_eq!(state(&[(".git/HEAD", COMMIT)], ""), known(None, short));
    let worktree = [
        (".git", "gitdir: main/worktrees/w\n"),
        ("main/worktrees/w/HEAD", "ref: refs/heads/w\n"),
        ("main/worktrees/w/commondir", "../..\n"),
        ("main/refs/heads/w", COMMIT),
    ];
    assert_eq!(state(&worktree, ""), known(Some("w"), short));
    assert_eq!(state(&[(".git/HEAD", "\u{0}nonsense")], ""), known(None, None));
}

#[test]
fn the_environment_has_date_platform_folder_and_git_state() {
    let folder = folder(&[(".git/HEAD", "ref: refs/heads/main\n")]);
    let text = describe_environment("2026-11-19", folder.path());
    for part in
        ["Date: 2026-11-19", "Platform: ", "Folder: /", "Git: branch main, without a commit"]
    {
        assert!(text.contains(part), "{text}");
    }
}
