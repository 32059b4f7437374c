use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::permission::{
    CallEffect, CallSubject, HookPreference, PathAccess, PathUse, PathZone, PermissionQuery,
    PermissionRule, Permissions, RuleDecision,
};

use super::path_zones::PathZones;
use super::protected_paths::own_folders;

/// A workspace `w` in a home folder, with a sibling folder whose name begins with its name.
struct TestHome {
    home: TempDir,
}

impl TestHome {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir_all(home.path().join("w/secrets")).unwrap();
        fs::create_dir_all(home.path().join("w-evil")).unwrap();
        Self { home }
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("w")
    }

    fn zones(&self) -> PathZones {
        PathZones::with_home(&self.workspace(), Some(self.home.path().to_owned()))
    }

    fn zone(&self, path: &str, access: PathAccess) -> PathZone {
        zone(&self.zones().path_uses(path, access))
    }
}

fn zone(uses: &[PathUse]) -> PathZone {
    uses.first().unwrap().zone
}

/// Covers cases 40, 41 and 44.
#[test]
fn what_is_not_in_the_workspace_is_outside() {
    let home = TestHome::new();
    let evil = home.home.path().join("w-evil/f");
    for path in
        ["../../etc/passwd", "/etc/passwd", "..", "../w-evil/f", evil.to_str().unwrap(), "/"]
    {
        assert_eq!(home.zone(path, PathAccess::Read), PathZone::Outside, "{path}");
        assert_ne!(home.zone(path, PathAccess::Write), PathZone::Workspace, "{path}");
    }
    for path in [".", "a", "a/../b", "./a//b", "../w/a", "~", "-rf", "two\nlines", "missing/x"] {
        assert_eq!(home.zone(path, PathAccess::Write), PathZone::Workspace, "{path}");
    }
    let added = home.zones().with_folder(&home.home.path().join("w-evil"));
    assert_eq!(zone(&added.path_uses("../w-evil/f", PathAccess::Write)), PathZone::Workspace);
}

/// Covers case 42.
#[test]
fn a_link_is_where_it_leads() {
    let home = TestHome::new();
    let w = home.workspace();
    symlink("/etc", w.join("etc")).unwrap();
    symlink("/etc/passwd", w.join("file")).unwrap();
    symlink("../../nowhere/yet", w.join("dangling")).unwrap();
    symlink("loop", w.join("loop")).unwrap();
    symlink("secrets", w.join("inside")).unwrap();
    symlink("../.git/hooks", w.join("secrets/hooks")).unwrap();
    for path in ["etc/passwd", "etc/missing", "file", "dangling", "loop/x", "etc/../w"] {
        assert_eq!(home.zone(path, PathAccess::Write), PathZone::Outside, "{path}");
    }
    assert_eq!(home.zone("inside/k", PathAccess::Write), PathZone::Workspace);
    assert_eq!(home.zone("secrets/hooks/pre-commit", PathAccess::Write), PathZone::Protected);
    let both: Vec<String> = home
        .zones()
        .path_uses("inside/k", PathAccess::Read)
        .iter()
        .map(|used| used.path.to_string())
        .collect();
    let root = home.zones().root().to_owned();
    let named = |path: &str| root.join(path).to_str().unwrap().to_owned();
    assert_eq!(both, [named("secrets/k"), named("inside/k")]);
}

#[test]
fn a_workspace_behind_a_link_is_the_workspace() {
    let home = TestHome::new();
    let alias = home.home.path().join("alias");
    symlink(home.workspace(), &alias).unwrap();
    let zones = PathZones::with_home(&alias, None);
    let uses = zones.path_uses(alias.join("a").to_str().unwrap(), PathAccess::Write);
    assert_eq!((zone(&uses), uses.len()), (PathZone::Workspace, 1));
    assert_eq!(zones.root(), home.workspace().canonicalize().unwrap());
}

/// Covers case 45.
#[test]
fn a_denied_file_is_denied_under_all_its_names() {
    let home = TestHome::new();
    symlink("secrets", home.workspace().join("open")).unwrap();
    let zones = home.zones();
    let permissions = Permissions {
        deny: vec![PermissionRule::parse("Read(secrets/**)").unwrap()],
        root: Arc::from(zones.root().to_str().unwrap()),
        ..Permissions::default()
    };
    let full_path = zones.root().join("./secrets//k");
    for path in
        [full_path.to_str().unwrap(), "secrets/../secrets/k", "SECRETS/k", "open/k", "Secrets"]
    {
        let subject = CallSubject::Paths(zones.path_uses(path, PathAccess::Read));
        let query = PermissionQuery {
            tool: "Read",
            subject: &subject,
            effect: CallEffect::ReadOnly,
            preference: HookPreference::Neutral,
            grants: &[],
        };
        assert!(matches!(permissions.evaluate_rules(query), RuleDecision::Deny(..)), "{path}");
    }
    let subject = CallSubject::Paths(zones.path_uses("secrets-not/k", PathAccess::Read));
    let query = PermissionQuery {
        tool: "Read",
        subject: &subject,
        effect: CallEffect::ReadOnly,
        preference: HookPreference::Neutral,
        grants: &[],
    };
    assert!(matches!(permissions.evaluate_rules(query), RuleDecision::Allow(_)));
}

/// Covers case 50: none of these paths exists.
#[test]
fn protected_places_need_not_exist() {
    let place = TestHome::new();
    let home = |path: &str| place.home.path().join(path).to_str().unwrap().to_owned();
    let inside = [
        ".git",
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/Config",
        ".git./config",
        "git~1/config",
        ".g\u{200c}it/hooks/x",
        "sub/.git/hooks/x",
        ".mcp.json",
        ".MCP.json",
        "sub/.mcp.json",
        ".claude",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".Claude/Settings.json",
        ".claude/hooks/x",
        ".claude/agents/a.md",
        ".claude/commands/a.md",
        ".claude/anything",
        "sub/.claude/skills/a/SKILL.md",
        ".vscode",
        ".vscode/tasks.json",
        ".vscode/settings.json",
        ".idea/workspace.xml",
        ".devcontainer/devcontainer.json",
        ".exrc",
        ".nvim.lua",
        ".dir-locals.el",
        ".envrc",
        ".windlass/x",
        ".helix/languages.toml",
        ".cursor/mcp.json",
        ".gdbinit",
        "my.code-workspace",
        ".lvimrc",
    ];
    for path in inside {
        assert_eq!(place.zone(path, PathAccess::Write), PathZone::Protected, "{path}");
        assert_eq!(place.zone(path, PathAccess::Read), PathZone::Workspace, "{path}");
    }
    for path in [
        ".ssh/authorized_keys",
        ".ssh",
        ".bashrc",
        ".zshenv",
        ".gitconfig",
        ".config/fish/config.fish",
        ".config/nvim/init.lua",
        ".config/Code/User/settings.json",
        ".vim/vimrc",
        ".emacs.d/init.el",
        ".tmux.conf",
        ".config/systemd/user/x.service",
    ] {
        assert_eq!(place.zone(&home(path), PathAccess::Write), PathZone::Protected, "{path}");
        assert_eq!(place.zone(&home(path), PathAccess::Read), PathZone::Outside, "{path}");
    }
    for path in
        [".github/x", ".gitignore", "git/config", "claude/agents/a.md", "settings.json", ".bashrc"]
    {
        assert_eq!(place.zone(path, PathAccess::Write), PathZone::Workspace, "{path}");
    }
}

#[test]
fn our_own_folders_are_protected_wherever_they_are() {
    let home = TestHome::new();
    let own = home.workspace().join("state");
    let variable = |name: &str| match name {
        "WINDLASS_HOME" => Some(own.clone()),
        "HOME" => Some(PathBuf::from("/h")),
        _ => None,
    };
    let folders = own_folders(variable);
    let expected =
        [Path::new("/h/.config/windlass"), Path::new("/h/.local/state/windlass"), own.as_path()];
    assert_eq!(folders, expected);
    let zones =
        folders.iter().fold(home.zones(), |zones, folder| zones.with_protected_folder(folder));
    assert_eq!(zone(&zones.path_uses("state/db", PathAccess::Write)), PathZone::Protected);
    assert_eq!(
        zone(&zones.path_uses("/h/.config/windlass/config.toml", PathAccess::Write)),
        PathZone::Protected
    );
}

/// Covers case 51.
#[test]
fn a_pointer_to_a_git_folder_protects_it() {
    let home = TestHome::new();
    let git = home.home.path().join("real/.real-git");
    fs::create_dir_all(git.join("worktrees/w")).unwrap();
    fs::write(home.workspace().join(".git"), "gitdir: ../real/.real-git/worktrees/w\n").unwrap();
    fs::write(git.join("worktrees/w/commondir"), "../..\n").unwrap();
    for path in [
        "../real/.real-git/worktrees/w/config.worktree",
        "../real/.real-git/hooks/pre-commit",
        ".git",
    ] {
        assert_eq!(home.zone(path, PathAccess::Write), PathZone::Protected, "{path}");
    }
    assert_eq!(home.zone("../real/other", PathAccess::Write), PathZone::Outside);
}

#[test]
fn a_path_that_is_too_long_is_nowhere() {
    let home = TestHome::new();
    assert_eq!(home.zone(&"x/".repeat(5_000), PathAccess::Read), PathZone::Outside);
}

/// The folder that git is configured to take hooks from, wherever the setting is.
#[test]
fn the_folder_of_hooks_that_git_is_told_of_is_protected() {
    let rows = [
        (".git/config", "[core]\n\thooksPath = .husky\n", ".husky/pre-commit"),
        (".git/config", "[CORE] HOOKSPATH=\"tools/hooks\"\n", "tools/hooks/pre-commit"),
        (".git/config.worktree", "[core]\nhooksPath = ./h\n", "h/post-checkout"),
        (".git/config", "[core]\n hooksPath = hk # c\n", "hk/pre-commit"),
        (".git/config", "[core]\n hooksPath = hk ; c\n", "hk/pre-commit"),
        (".git/config", "[core]\n hooksPath = \"hk\" ; c\n", "hk/pre-commit"),
        (".git/config", "[core]\n hooksPath = h\"k\"\n", "hk/pre-commit"),
        (".git/config", "[core]\n hooksPath = \"hk\"# x\n", "hk/pre-commit"),
        (".git/config", "[core]\n hooksPath = h\\\nk\n", "hk/pre-commit"),
        (".git/config", "[core]\n hooksPath = \"h#k\"\n", "h#k/pre-commit"),
        (".git/config", "[core]\n hooksPath = h]k\n", "h]k/pre-commit"),
        (".git/config", "[core]\n hooksPath = .husky/_\n", ".husky/pre-commit"),
        (".git/config", "[include]\n path = ../inc\n", "inc"),
        (".git/config", "[core]\n fsmonitor = sh tool/run.sh\n", "tool/run.sh"),
        (".git/config", "[alias]\n x = !./tool/run.sh\n", "tool/run.sh"),
        ("../.gitconfig", "[core]\n hooksPath = ~/w/mine\n", "mine/pre-push"),
        ("../.config/git/config", "[core]\n hooksPath = hooks\n", "hooks/pre-push"),
        (".git/config", "[include]\n path = more\n", "included/pre-commit"),
    ];
    for (file, text, hook) in rows {
        let home = TestHome::new();
        let file = home.workspace().join(file);
        fs::create_dir_all(home.workspace().join(".git")).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(home.workspace().join("tool")).unwrap();
        fs::write(home.workspace().join("tool/run.sh"), "").unwrap();
        fs::write(&file, text).unwrap();
        fs::write(home.workspace().join(".git/more"), "[core]\nhooksPath=included\n").unwrap();
        assert_eq!(home.zone(hook, PathAccess::Write), PathZone::Protected, "{text} {hook}");
        assert_eq!(home.zone("src/pre-commit", PathAccess::Write), PathZone::Workspace, "{text}");
    }
    // The workspace may be a folder within the repository.
    let home = TestHome::new();
    fs::create_dir_all(home.home.path().join(".git")).unwrap();
    let config = home.home.path().join(".git/config");
    fs::write(config, "[core]\nhooksPath = w/hooks\n").unwrap();
    assert_eq!(home.zone("hooks/pre-commit", PathAccess::Write), PathZone::Protected);
}

/// If the workspace is the home folder, keys and programs in it are still not part of the
/// workspace.
#[test]
fn a_home_folder_as_workspace_keeps_its_keys_and_programs_apart() {
    let home = TempDir::new().unwrap();
    let state = home.path().join(".local/state/windlass");
    let zones = PathZones::with_home(home.path(), Some(home.path().to_owned()))
        .with_protected_folder(&state);
    let of = |path: &str, access| zone(&zones.path_uses(path, access));
    for key in [
        ".ssh/id_ed25519",
        ".SSH/id_ed25519",
        ".gnupg/secring.gpg",
        ".aws/credentials",
        ".netrc",
        ".npmrc",
        ".kube/config",
        ".docker/config.json",
        ".config/gh/hosts.yml",
        ".cargo/credentials.toml",
        ".git-credentials",
        ".bash_history",
        ".mozilla/firefox/x/logins.json",
        ".local/state/windlass/windlass.db",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".config/sops/age/keys.txt",
        ".local/share/fish/fish_history",
        ".s3cfg",
        ".histfile",
        ".electrum/wallets/x",
        ".any-tool/token",
    ] {
        assert_eq!(of(key, PathAccess::Read), PathZone::Outside, "{key}");
        assert_ne!(of(key, PathAccess::Write), PathZone::Workspace, "{key}");
    }
    for program in [".local/bin/ls", "bin/ls", ".cargo/bin/cargo", "go/bin/x"] {
        assert_eq!(of(program, PathAccess::Write), PathZone::Outside, "{program}");
        let is_hidden = program.starts_with('.');
        let read = if is_hidden { PathZone::Outside } else { PathZone::Workspace };
        assert_eq!(of(program, PathAccess::Read), read, "{program}");
    }
    for start in [".bashrc", ".profile", ".zshenv", ".config/fish/config.fish", ".vimrc", ".envrc"]
    {
        assert_eq!(of(start, PathAccess::Write), PathZone::Protected, "{start}");
    }
    for start in [".bashrc.d/x", ".oh-my-zsh/custom/x.zsh", ".cargo/env", ".nvm/nvm.sh", ".mkshrc"]
    {
        assert_eq!(of(start, PathAccess::Write), PathZone::Outside, "{start}");
    }
    for other in ["notes.txt", "src/main.rs", ".gitignore", ".github/x", "sbin/x", "a/.hidden/x"] {
        assert_eq!(of(other, PathAccess::Write), PathZone::Workspace, "{other}");
        assert_eq!(of(other, PathAccess::Read), PathZone::Workspace, "{other}");
    }
}

/// A workspace within a hidden folder of the home folder is a workspace like any other.
#[test]
fn a_workspace_in_a_hidden_folder_is_not_private() {
    let home = TempDir::new().unwrap();
    let dots = home.path().join(".dotfiles");
    fs::create_dir_all(&dots).unwrap();
    let zones = PathZones::with_home(&dots, Some(home.path().to_owned()));
    assert_eq!(zone(&zones.path_uses("x", PathAccess::Write)), PathZone::Workspace);
    assert_eq!(zone(&zones.path_uses(".x/y", PathAccess::Read)), PathZone::Workspace);
    assert_eq!(zone(&zones.path_uses("../.x", PathAccess::Read)), PathZone::Outside);
    let above = PathZones::with_home(home.path().parent().unwrap(), Some(home.path().to_owned()));
    let key = home.path().join(".x/key");
    assert_eq!(zone(&above.path_uses(key.to_str().unwrap(), PathAccess::Read)), PathZone::Outside);
}

#[test]
fn a_file_that_decides_what_runs_is_read_and_not_written() {
    let home = TestHome::new();
    let zones = home.zones().keeping_file(&home.workspace().join("scripts/h.sh"));
    assert_eq!(zone(&zones.path_uses("scripts/h.sh", PathAccess::Write)), PathZone::Protected);
    assert_eq!(zone(&zones.path_uses("scripts/h.sh", PathAccess::Read)), PathZone::Workspace);
    assert_eq!(zone(&zones.path_uses("scripts/other", PathAccess::Write)), PathZone::Workspace);
}
