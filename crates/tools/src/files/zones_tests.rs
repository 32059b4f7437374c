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
        ".vscode/tasks.json",
        ".windlass/x",
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
    ] {
        assert_eq!(place.zone(&home(path), Access::Write), Zone::Protected, "{path}");
        assert_eq!(place.zone(&home(path), Access::Read), Zone::Outside, "{path}");
    }
    for path in
        [".github/x", ".gitignore", "git/config", ".claude/agents/a.md", "settings.json", ".bashrc"]
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
