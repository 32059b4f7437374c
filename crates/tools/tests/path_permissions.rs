//! Attack paths: one row each, numbered as in the list of attacks.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::RenameFlags;
use serde_json::json as value;
use tempfile::TempDir;
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::permission::{
    CallEffect, HookPreference, PermissionQuery, PermissionRule, Permissions, RuleDecision,
};
use windlass_runtime::ports::Tool;
use windlass_tools::{EditTool, PathZones, ReadTool, ToolContext, WriteTool};

use crate::fixture::{call_context, failure_of, json, success_text};

/// A workspace `w` below a home folder, with a secret beside it and one in it.
struct PathFixture {
    folder: TempDir,
    workplace: ToolContext,
    permissions: Permissions,
}

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl PathFixture {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let home = folder.path();
        for made in ["w/secrets", "w/sub", "w-evil", ".ssh", "real.git/hooks"] {
            fs::create_dir_all(home.join(made)).unwrap();
        }
        fs::write(home.join("outside"), "outside").unwrap();
        fs::write(home.join("w-evil/f"), "outside").unwrap();
        fs::write(home.join("w/secrets/k"), "secret").unwrap();
        fs::write(home.join("w/sub/a"), "inside").unwrap();
        fs::write(home.join("w/.git"), "gitdir: ../real.git\n").unwrap();
        symlink("../outside", home.join("w/out")).unwrap();
        symlink("/etc/passwd", home.join("w/passwd")).unwrap();
        let zones = PathZones::with_home(&home.join("w"), Some(home.to_owned()));
        let rules =
            |list: &[&str]| list.iter().map(|rule| PermissionRule::parse(rule).unwrap()).collect();
        let permissions = Permissions {
            allow: rules(&["Read(**)", "Write(**)", "Edit(**)"]),
            deny: rules(&["Read(secrets/**)", "Edit(secrets/**)", "Write(secrets/**)"]),
            root: Arc::from(zones.root().to_str().unwrap()),
            home: Arc::from(home.canonicalize().unwrap().to_str().unwrap()),
            ..Permissions::default()
        };
        Self { folder, workplace: ToolContext::with_zones(zones), permissions }
    }

    fn root(&self) -> &Path {
        self.workplace.zones().root()
    }

    fn home(&self) -> &Path {
        self.folder.path()
    }

    fn decide(&self, tool: &str, facts: &CallFacts) -> Verdict {
        let effect =
            if facts.is_read_only() { CallEffect::ReadOnly } else { CallEffect::MayChange };
        let subject = &facts.subject;
        let query = PermissionQuery {
            tool,
            subject,
            effect,
            preference: HookPreference::Neutral,
            grants: &[],
        };
        match self.permissions.evaluate_rules(query) {
            RuleDecision::Allow(_) => Verdict::Allow,
            RuleDecision::Ask(_) | RuleDecision::Undecided => Verdict::Ask,
            RuleDecision::Deny(..) => Verdict::Deny,
        }
    }

    fn read_decision(&self, path: &str) -> Verdict {
        let input = json(&value!({ "file_path": path }).to_string());
        let facts = ReadTool::new(&self.workplace).assess_in_lane(&call_context().lane, &input);
        self.decide("Read", &facts)
    }

    fn write_decision(&self, path: &str) -> Verdict {
        let input = json(&value!({ "file_path": path, "content": "" }).to_string());
        self.decide("Write", &WriteTool::new(&self.workplace).assess(&input))
    }

    async fn read(&self, path: &str) -> ToolOutcome {
        let input = json(&value!({ "file_path": path }).to_string());
        ReadTool::new(&self.workplace).run(call_context(), input).await
    }

    async fn write(&self, path: &str) -> ToolOutcome {
        let input = json(&value!({ "file_path": path, "content": "written" }).to_string());
        WriteTool::new(&self.workplace).run(call_context(), input).await
    }
}

fn code(outcome: ToolOutcome) -> String {
    failure_of(outcome).code.to_string()
}

#[tokio::test]
async fn case_40_41_44_what_lies_outside_is_not_covered_by_rules_of_the_workspace() {
    let house = PathFixture::new();
    let beside = house.home().join("w-evil/f");
    for path in ["../../etc/passwd", "/etc/passwd", "../w-evil/f", beside.to_str().unwrap()] {
        assert_eq!(house.read_decision(path), Verdict::Ask, "{path}");
        assert_eq!(house.write_decision(path), Verdict::Ask, "{path}");
    }
    assert_eq!(house.read_decision("sub/a"), Verdict::Allow);
}

#[tokio::test]
async fn case_42_a_link_out_of_the_workspace_is_not_followed() {
    let house = PathFixture::new();
    for path in ["out", "passwd", "./sub/../out"] {
        assert_ne!(house.read_decision(path), Verdict::Allow, "{path}");
        assert_eq!(code(house.read(path).await), "outside_workspace", "{path}");
        assert_eq!(code(house.write(path).await), "outside_workspace", "{path}");
    }
    assert_eq!(fs::read_to_string(house.home().join("outside")).unwrap(), "outside");
}

/// A folder is swapped with a link to outside repeatedly during reads and writes.
#[tokio::test(flavor = "multi_thread")]
async fn case_43_a_race_between_looking_and_opening_leads_nowhere() {
    let house = PathFixture::new();
    let root = house.root().to_owned();
    fs::create_dir(house.home().join("trap")).unwrap();
    fs::write(house.home().join("trap/a"), "outside").unwrap();
    symlink("../trap", root.join("bad")).unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&over);
    let swapping = std::thread::spawn(move || {
        let mut swaps = 0_u32;
        let (here, sub, bad) = (rustix::fs::CWD, root.join("sub"), root.join("bad"));
        while !stop.load(Ordering::Relaxed) {
            rustix::fs::renameat_with(here, &sub, here, &bad, RenameFlags::EXCHANGE).unwrap();
            swaps += 1;
        }
        swaps
    });
    let mut inside = 0;
    for n in 0..10_000 {
        match house.read("sub/a").await {
            ToolOutcome::Done(content) if content.text().contains("inside") => inside += 1,
            ToolOutcome::Done(content) => panic!("escaped: {}", content.text()),
            ToolOutcome::Failed(_) => {}
            other => panic!("{other:?}"),
        }
        if n % 20 == 0 {
            drop(house.write(&format!("sub/new{n}")).await);
        }
    }
    over.store(true, Ordering::Relaxed);
    let swaps = swapping.join().unwrap();
    let trapped = fs::read_dir(house.home().join("trap")).unwrap().count();
    assert_eq!(trapped, 1, "a write escaped");
    assert!(swaps > 100 && inside > 0, "{swaps} swaps, {inside} reads: no race took place");
}

#[test]
fn case_45_a_denied_file_is_denied_however_it_is_spelled() {
    let house = PathFixture::new();
    symlink("secrets", house.root().join("alias")).unwrap();
    let full_path = house.root().join("secrets/k");
    let paths = [
        "secrets/k",
        "./secrets//k",
        "secrets/../secrets/k",
        "SECRETS/k",
        "sub/../secrets/k",
        "alias/k",
        full_path.to_str().unwrap(),
    ];
    for path in paths {
        assert_eq!(house.read_decision(path), Verdict::Deny, "{path}");
    }
}

/// A read through another name of the file is authorised by that other name: hard links cannot be
/// recognised by a path. For writing, a file with two names is rejected.
#[tokio::test]
async fn case_46_a_hard_link_is_not_written_through() {
    let house = PathFixture::new();
    fs::hard_link(house.root().join("secrets/k"), house.root().join("harmless")).unwrap();
    success_text(house.read("harmless").await);
    assert_eq!(code(house.write("harmless").await), "hard_linked");
    assert_eq!(fs::read_to_string(house.root().join("secrets/k")).unwrap(), "secret");
}

#[tokio::test]
async fn case_47_48_what_only_looks_like_a_file_is_refused() {
    let house = PathFixture::new();
    let fifo = house.root().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    symlink("/proc/self", house.root().join("me")).unwrap();
    let special = [
        "/proc/self/root/etc/shadow",
        "/proc/self/fd/3",
        "/dev/stdin",
        "/proc/1/environ",
        "/dev/zero",
        "fifo",
        "me/environ",
    ];
    for path in special {
        assert_eq!(code(house.read(path).await), "special_file", "{path}");
        assert_eq!(code(house.write(path).await), "special_file", "{path}");
    }
    let sparse = fs::File::create(house.root().join("sparse")).unwrap();
    sparse.set_len(10 << 40).unwrap();
    assert_eq!(code(house.read("sparse").await), "binary_file");
    assert_eq!(code(house.write("sparse").await), "file_too_large");
}

#[tokio::test]
async fn case_49_a_name_is_only_a_name() {
    let house = PathFixture::new();
    for name in ["two\nlines", "-rf", "~", "*", "[a]", "$(id)", "a b", "שלום", &"n".repeat(255)]
    {
        success_text(house.write(name).await);
        assert!(success_text(house.read(name).await).contains("written"), "{name}");
        assert_eq!(fs::read_to_string(house.root().join(name)).unwrap(), "written", "{name}");
    }
}

#[tokio::test]
async fn case_50_51_what_decides_what_may_run_is_not_written() {
    let house = PathFixture::new();
    let home = |path: &str| house.home().join(path).to_str().unwrap().to_owned();
    let paths = [
        ".git".to_owned(),
        ".git/config".to_owned(),
        ".mcp.json".to_owned(),
        "sub/.git/hooks/pre-commit".to_owned(),
        ".windlass/config.toml".to_owned(),
        ".claude/settings.json".to_owned(),
        ".vscode/tasks.json".to_owned(),
        ".VSCode/Tasks.json".to_owned(),
        home(".ssh/authorized_keys"),
        home(".bashrc"),
        // The folder to which the workspace's `.git` points.
        home("real.git/hooks/pre-commit"),
    ];
    for path in paths {
        assert_eq!(house.write_decision(&path), Verdict::Deny, "{path}");
        assert_eq!(code(house.write(&path).await), "protected_path", "{path}");
    }
    assert!(!house.home().join("real.git/hooks/pre-commit").exists());
    assert!(!house.root().join(".mcp.json").exists());
}

#[tokio::test]
async fn case_52_an_edit_of_what_has_changed_is_a_conflict() {
    let house = PathFixture::new();
    success_text(house.read("sub/a").await);
    fs::write(house.root().join("sub/a"), "changed").unwrap();
    let input = json(r#"{"file_path": "sub/a", "old_string": "changed", "new_string": "x"}"#);
    let edit = EditTool::new(&house.workplace);
    assert_eq!(code(edit.run(call_context(), input).await), "file_changed");
    assert_eq!(fs::read_to_string(house.root().join("sub/a")).unwrap(), "changed");
}

/// The name of the temporary file is random; an existing file is left alone, and other files beside
/// it are kept.
#[tokio::test]
async fn case_55_files_on_the_way_are_new_and_private() {
    let house = PathFixture::new();
    symlink("../outside", house.root().join(".windlass-")).unwrap();
    success_text(house.write("new").await);
    assert_eq!(fs::read_to_string(house.home().join("outside")).unwrap(), "outside");
    let left = fs::read_dir(house.root()).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> =
        left.filter(|name| name.to_str().unwrap().starts_with(".windlass-")).collect();
    assert_eq!(left, [".windlass-"]);
}
