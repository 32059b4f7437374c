use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::permission::{
    Access, Asked, Effect, Lean, PathUse, Permissions, Rule, Ruling, Subject, Zone,
};

use super::protected::own_folders;
use super::zones::Zones;

/// A workspace `w` in a home folder, with a neighbour that shares its beginning.
struct Place {
    home: TempDir,
}

impl Place {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir_all(home.path().join("w/secrets")).unwrap();
        fs::create_dir_all(home.path().join("w-evil")).unwrap();
        Self { home }
    }

    fn workspace(&self) -> PathBuf {
        self.home.path().join("w")
    }

    fn zones(&self) -> Zones {
        Zones::bare(&self.workspace(), Some(self.home.path().to_owned()))
    }

    fn zone(&self, path: &str, access: Access) -> Zone {
        zone(&self.zones().uses(path, access))
    }
}

fn zone(uses: &[PathUse]) -> Zone {
    uses.first().unwrap().zone
}

/// Cases 40, 41, 44.
#[test]
fn what_is_not_in_the_workspace_is_outside() {
    let place = Place::new();
    let evil = place.home.path().join("w-evil/f");
    for path in
        ["../../etc/passwd", "/etc/passwd", "..", "../w-evil/f", evil.to_str().unwrap(), "/"]
    {
        assert_eq!(place.zone(path, Access::Read), Zone::Outside, "{path}");
        assert_ne!(place.zone(path, Access::Write), Zone::Workspace, "{path}");
    }
    for path in [".", "a", "a/../b", "./a//b", "../w/a", "~", "-rf", "two\nlines", "missing/x"] {
        assert_eq!(place.zone(path, Access::Write), Zone::Workspace, "{path}");
    }
    let added = place.zones().with_folder(&place.home.path().join("w-evil"));
    assert_eq!(zone(&added.uses("../w-evil/f", Access::Write)), Zone::Workspace);
}

/// Case 42.
#[test]
fn a_link_is_where_it_leads() {
    let place = Place::new();
    let w = place.workspace();
    symlink("/etc", w.join("etc")).unwrap();
    symlink("/etc/passwd", w.join("file")).unwrap();
    symlink("../../nowhere/yet", w.join("dangling")).unwrap();
    symlink("loop", w.join("loop")).unwrap();
    symlink("secrets", w.join("inside")).unwrap();
    symlink("../.git/hooks", w.join("secrets/hooks")).unwrap();
    for path in ["etc/passwd", "etc/missing", "file", "dangling", "loop/x", "etc/../w"] {
        assert_eq!(place.zone(path, Access::Write), Zone::Outside, "{path}");
    }
    assert_eq!(place.zone("inside/k", Access::Write), Zone::Workspace);
    assert_eq!(place.zone("secrets/hooks/pre-commit", Access::Write), Zone::Protected);
    let both: Vec<String> = place
        .zones()
        .uses("inside/k", Access::Read)
        .iter()
        .map(|used| used.path.to_string())
        .collect();
    let root = place.zones().root().to_owned();
    let named = |path: &str| root.join(path).to_str().unwrap().to_owned();
    assert_eq!(both, [named("secrets/k"), named("inside/k")]);
}

#[test]
fn a_workspace_behind_a_link_is_the_workspace() {
    let place = Place::new();
    let alias = place.home.path().join("alias");
    symlink(place.workspace(), &alias).unwrap();
    let zones = Zones::bare(&alias, None);
    let uses = zones.uses(alias.join("a").to_str().unwrap(), Access::Write);
    assert_eq!((zone(&uses), uses.len()), (Zone::Workspace, 1));
    assert_eq!(zones.root(), place.workspace().canonicalize().unwrap());
}

/// Case 45.
#[test]
fn a_denied_file_is_denied_under_all_its_names() {
    let place = Place::new();
    symlink("secrets", place.workspace().join("open")).unwrap();
    let zones = place.zones();
    let permissions = Permissions {
        deny: vec![Rule::parse("Read(secrets/**)").unwrap()],
        root: Arc::from(zones.root().to_str().unwrap()),
        ..Permissions::default()
    };
    let whole = zones.root().join("./secrets//k");
    for path in [whole.to_str().unwrap(), "secrets/../secrets/k", "SECRETS/k", "open/k", "Secrets"]
    {
        let subject = Subject::Paths(zones.uses(path, Access::Read));
        let asked = Asked {
            tool: "Read",
            subject: &subject,
            effect: Effect::None,
            lean: Lean::Neutral,
            grants: &[],
        };
        assert!(matches!(permissions.judge(asked), Ruling::Deny(_)), "{path}");
    }
    let subject = Subject::Paths(zones.uses("secrets-not/k", Access::Read));
    let asked = Asked {
        tool: "Read",
        subject: &subject,
        effect: Effect::None,
        lean: Lean::Neutral,
        grants: &[],
    };
    assert!(matches!(permissions.judge(asked), Ruling::Allow(_)));
}

/// Case 50: none of these exists.
#[test]
fn protected_places_need_not_exist() {
    let place = Place::new();
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
        assert_eq!(place.zone(path, Access::Write), Zone::Protected, "{path}");
        assert_eq!(place.zone(path, Access::Read), Zone::Workspace, "{path}");
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
        assert_eq!(place.zone(&home(path), Access::Write), Zone::Protected, "{path}");
        assert_eq!(place.zone(&home(path), Access::Read), Zone::Outside, "{path}");
    }
    for path in
        [".github/x", ".gitignore", "git/config", "claude/agents/a.md", "settings.json", ".bashrc"]
    {
        assert_eq!(place.zone(path, Access::Write), Zone::Workspace, "{path}");
    }
}

#[test]
fn our_own_folders_are_protected_wherever_they_are() {
    let place = Place::new();
    let own = place.workspace().join("state");
    let variable = |name: &str| match name {
        "WINDLASS_HOME" => Some(own.clone()),
        "HOME" => Some(PathBuf::from("/h")),
        _ => None,
    };
    let folders = own_folders(variable);
    let expected =
        [Path::new("/h/.config/windlass"), Path::new("/h/.local/state/windlass"), own.as_path()];
    assert_eq!(folders, expected);
    let zones = folders.iter().fold(place.zones(), |zones, folder| zones.protecting(folder));
    assert_eq!(zone(&zones.uses("state/db", Access::Write)), Zone::Protected);
    assert_eq!(
        zone(&zones.uses("/h/.config/windlass/config.toml", Access::Write)),
        Zone::Protected
    );
}

/// Case 51.
#[test]
fn a_pointer_to_a_git_folder_protects_it() {
    let place = Place::new();
    let git = place.home.path().join("real/.real-git");
    fs::create_dir_all(git.join("worktrees/w")).unwrap();
    fs::write(place.workspace().join(".git"), "gitdir: ../real/.real-git/worktrees/w\n").unwrap();
    fs::write(git.join("worktrees/w/commondir"), "../..\n").unwrap();
    for path in [
        "../real/.real-git/worktrees/w/config.worktree",
        "../real/.real-git/hooks/pre-commit",
        ".git",
    ] {
        assert_eq!(place.zone(path, Access::Write), Zone::Protected, "{path}");
    }
    assert_eq!(place.zone("../real/other", Access::Write), Zone::Outside);
}

#[test]
fn a_path_that_is_too_long_is_nowhere() {
    let place = Place::new();
    assert_eq!(place.zone(&"x/".repeat(5_000), Access::Read), Zone::Outside);
}

/// The folder that git is told to take hooks from, wherever the setting stands.
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
        let place = Place::new();
        let file = place.workspace().join(file);
        fs::create_dir_all(place.workspace().join(".git")).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::create_dir_all(place.workspace().join("tool")).unwrap();
        fs::write(place.workspace().join("tool/run.sh"), "").unwrap();
        fs::write(&file, text).unwrap();
        fs::write(place.workspace().join(".git/more"), "[core]\nhooksPath=included\n").unwrap();
        assert_eq!(place.zone(hook, Access::Write), Zone::Protected, "{text} {hook}");
        assert_eq!(place.zone("src/pre-commit", Access::Write), Zone::Workspace, "{text}");
    }
    // The workspace may be a folder within the repository.
    let place = Place::new();
    fs::create_dir_all(place.home.path().join(".git")).unwrap();
    let config = place.home.path().join(".git/config");
    fs::write(config, "[core]\nhooksPath = w/hooks\n").unwrap();
    assert_eq!(place.zone("hooks/pre-commit", Access::Write), Zone::Protected);
}

/// Where the workspace is the home folder, keys and programs are in it and yet not part of it.
#[test]
fn a_home_folder_as_workspace_keeps_its_keys_and_programs_apart() {
    let home = TempDir::new().unwrap();
    let state = home.path().join(".local/state/windlass");
    let zones = Zones::bare(home.path(), Some(home.path().to_owned())).protecting(&state);
    let of = |path: &str, access| zone(&zones.uses(path, access));
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
        assert_eq!(of(key, Access::Read), Zone::Outside, "{key}");
        assert_ne!(of(key, Access::Write), Zone::Workspace, "{key}");
    }
    for program in [".local/bin/ls", "bin/ls", ".cargo/bin/cargo", "go/bin/x"] {
        assert_eq!(of(program, Access::Write), Zone::Outside, "{program}");
        let is_hidden = program.starts_with('.');
        let read = if is_hidden { Zone::Outside } else { Zone::Workspace };
        assert_eq!(of(program, Access::Read), read, "{program}");
    }
    for start in [".bashrc", ".profile", ".zshenv", ".config/fish/config.fish", ".vimrc", ".envrc"]
    {
        assert_eq!(of(start, Access::Write), Zone::Protected, "{start}");
    }
    for start in [".bashrc.d/x", ".oh-my-zsh/custom/x.zsh", ".cargo/env", ".nvm/nvm.sh", ".mkshrc"]
    {
        assert_eq!(of(start, Access::Write), Zone::Outside, "{start}");
    }
    for other in ["notes.txt", "src/main.rs", ".gitignore", ".github/x", "sbin/x", "a/.hidden/x"] {
        assert_eq!(of(other, Access::Write), Zone::Workspace, "{other}");
        assert_eq!(of(other, Access::Read), Zone::Workspace, "{other}");
    }
}

/// A workspace within a hidden folder of the home folder is a workspace like any other.
#[test]
fn a_workspace_in_a_hidden_folder_is_not_private() {
    let home = TempDir::new().unwrap();
    let dots = home.path().join(".dotfiles");
    fs::create_dir_all(&dots).unwrap();
    let zones = Zones::bare(&dots, Some(home.path().to_owned()));
    assert_eq!(zone(&zones.uses("x", Access::Write)), Zone::Workspace);
    assert_eq!(zone(&zones.uses(".x/y", Access::Read)), Zone::Workspace);
    assert_eq!(zone(&zones.uses("../.x", Access::Read)), Zone::Outside);
    let above = Zones::bare(home.path().parent().unwrap(), Some(home.path().to_owned()));
    let key = home.path().join(".x/key");
    assert_eq!(zone(&above.uses(key.to_str().unwrap(), Access::Read)), Zone::Outside);
}

#[test]
fn a_file_that_decides_what_runs_is_read_and_not_written() {
    let place = Place::new();
    let zones = place.zones().keeping_file(&place.workspace().join("scripts/h.sh"));
    assert_eq!(zone(&zones.uses("scripts/h.sh", Access::Write)), Zone::Protected);
    assert_eq!(zone(&zones.uses("scripts/h.sh", Access::Read)), Zone::Workspace);
    assert_eq!(zone(&zones.uses("scripts/other", Access::Write)), Zone::Workspace);
}
