//! Every writer on every protected path, redirections, git, and links out of the workspace.

use std::os::unix::fs::symlink;

use windlass_core::permission::PermissionMode;

use super::{EVERY_MODE, WRITERS};
use crate::permission_attacks::{AttackWorkspace, Verdict};
use Verdict::{Allow, Ask, Deny};

/// Protected paths, which decide what may run.
const PROTECTED: &[&str] = &[
    ".git/config",
    ".git/hooks/pre-commit",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/commands/x.md",
    ".claude/agents/x.md",
    ".mcp.json",
    ".vscode/tasks.json",
    ".envrc",
    ".husky/pre-commit",
];

/// Commands that may write the file they name.
const MAYBE_WRITERS: &[&str] = &[
    "python3 tool.py {}",
    "perl -pi -e s/a/b/ {}",
    "vim -es {}",
    "patch {} a",
    "unzip a.zip -d {}",
    "tar xf a.tar -C {}",
    "unknown --into={}",
    "unknown -x{}",
    "unknown key={}",
    "git checkout HEAD -- {}",
    "gcc -o{} a.c",
];

fn with_hooks_path(workspace: AttackWorkspace) -> AttackWorkspace {
    std::fs::create_dir_all(workspace.path(".git/hooks")).unwrap();
    std::fs::write(workspace.path(".git/config"), "[core]\nhooksPath = .husky\n").unwrap();
    // The protected paths are determined when a session begins.
    workspace.looked_up_again()
}

// spec: PERMISSIONS-15
#[test]
fn no_command_writes_a_protected_place() {
    for mode in EVERY_MODE {
        let workspace = with_hooks_path(AttackWorkspace::new())
            .in_mode(mode)
            .with_allow_rules(&["Bash"])
            .with_deny_rules(&[]);
        for path in PROTECTED {
            let whole = workspace.path(path).display().to_string();
            for writer in WRITERS {
                for path in [*path, &whole] {
                    let command = writer.replace("{}", path);
                    assert_eq!(workspace.verdict(&command), Deny, "{mode:?} {command}");
                }
            }
        }
    }
    let rules = ["Bash(tee:*)", "Bash(tee .git/config)"];
    let workspace =
        with_hooks_path(AttackWorkspace::new()).with_allow_rules(&rules).with_deny_rules(&[]);
    for path in [".git/config", "sub/../.git/config", ".GIT/config", "./.git//config"] {
        assert_eq!(workspace.verdict(&format!("tee {path}")), Deny, "{path}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn a_protected_place_is_found_wherever_the_target_is_said() {
    let workspace = with_hooks_path(AttackWorkspace::new())
        .in_mode(PermissionMode::AcceptEdits)
        .with_allow_rules(&["Bash"]);
    workspace.file("sub/.mcp.json");
    workspace.file("sub/.claude/x.md");
    let whole = workspace.zones.root().display().to_string();
    for target in [".", "./", &whole, "sub/.."] {
        for form in [
            "cp sub/.mcp.json {}",
            "cp -t {} sub/.mcp.json",
            "cp -t{} sub/.mcp.json",
            "cp --target-directory={} sub/.mcp.json",
            "cp --target-directory {} sub/.mcp.json",
            "cp --target={} sub/.mcp.json",
            "mv sub/.mcp.json {}",
            "mv -t {} sub/.mcp.json",
            "mv sub/.claude {}",
            "install -t {} sub/.mcp.json",
            "install sub/.mcp.json {}",
            "ln -t {} sub/.mcp.json",
            "ln sub/.mcp.json {}",
            "cp --parents .claude/x.md {}/sub",
        ] {
            let command = form.replace("{}", target);
            assert_eq!(workspace.verdict(&command), Deny, "{command}");
        }
    }
    assert_eq!(workspace.verdict("ln sub/.mcp.json"), Deny);
    for whole_folder in ["cp -rT sub {}", "cp -r sub/. {}", "cp -a sub/. {}", "cp -r sub {}"] {
        let command = whole_folder.replace("{}", &whole);
        let workspace = AttackWorkspace::new()
            .in_mode(PermissionMode::AcceptEdits)
            .with_allow_rules(&["Bash(cp:*)"]);
        workspace.file("sub/.mcp.json");
        assert_ne!(workspace.verdict(&command), Allow, "{command}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn what_may_write_a_protected_place_is_covered_by_no_rule() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Auto] {
        let rules = ["Bash", "Bash(python3:*)", "Bash(git config:*)"];
        let workspace = with_hooks_path(AttackWorkspace::new())
            .in_mode(mode)
            .with_allow_rules(&rules)
            .with_deny_rules(&[]);
        for path in PROTECTED {
            for writer in MAYBE_WRITERS {
                let command = writer.replace("{}", path);
                assert_eq!(workspace.verdict(&command), Ask, "{mode:?} {command}");
            }
        }
        for command in [
            "git config core.hooksPath x",
            "git config --global alias.x '!id'",
            "git config --add a.b c",
            "git config --unset a.b",
            "git config -e",
            "git config set a.b c",
            "rm .gi*/config",
            "tee .c*/settings.json",
            "unknown .g?t/config",
        ] {
            assert_eq!(workspace.verdict(command), Ask, "{mode:?} {command}");
        }
        for command in
            ["git config --get a.b", "git config a.b", "git config --list", "cat .git/config"]
        {
            assert_eq!(workspace.verdict(command), Allow, "{mode:?} {command}");
        }
    }
}

/// Commands that are allowed by a rule, or because they only read.
const COVERED: &[&str] =
    &["echo x", "ls", "cat a", "git log --format=%s", "npm test", "grep -n x a", "sort a | uniq"];

const REDIRECTIONS: &[&str] =
    &["> {}", ">> {}", ">| {}", "&> {}", "&>> {}", "2> {}", "1> {}", ">& {}"];

// spec: PERMISSIONS-15
#[test]
fn a_rule_for_a_command_does_not_cover_its_redirection() {
    let rules = ["Bash(echo:*)", "Bash(git log:*)", "Bash(npm test:*)", "Bash(cat:*)"];
    let workspace = AttackWorkspace::new().with_allow_rules(&rules);
    workspace.file("package.json");
    for command in COVERED {
        assert_eq!(workspace.verdict(command), Allow, "{command}");
        for redirection in REDIRECTIONS {
            for file in ["package.json", "new", "src/main.rs"] {
                let command = format!("{command} {}", redirection.replace("{}", file));
                assert_eq!(workspace.verdict(&command), Ask, "{command}");
                assert_eq!(workspace.verdict(&format!("{command} && npm test")), Ask, "{command}");
            }
            let command = format!("{command} {}", redirection.replace("{}", "/dev/null"));
            assert_eq!(workspace.verdict(&command), Allow, "{command}");
        }
    }
    for covered in [&["Bash(echo:*)", "Edit"][..], &["Bash(echo:*)", "Edit(new)"]] {
        let workspace = AttackWorkspace::new().with_allow_rules(covered);
        assert_eq!(workspace.verdict("echo x > new"), Allow, "{covered:?}");
    }
    let workspace = AttackWorkspace::new().with_allow_rules(&["Bash(echo:*)", "Edit(src/**)"]);
    assert_eq!(workspace.verdict("echo x > new"), Ask);
    let workspace = AttackWorkspace::new().in_mode(PermissionMode::AcceptEdits);
    assert_eq!(workspace.verdict("cat a > new"), Allow);
}

/// Every git command may run a program that the repository configures.
// spec: PERMISSIONS-16
#[test]
fn git_runs_only_where_a_rule_says_so() {
    let commands = [
        "git status",
        "git status --short",
        "git log",
        "git log -p",
        "git log --oneline -5",
        "git show",
        "git show HEAD:a",
        "git diff",
        "git diff --stat",
        "git blame a",
        "git branch",
        "git branch --show-current",
        "git rev-parse HEAD",
        "git ls-files",
        "git grep x",
        "git cat-file -p HEAD",
        "git fetch",
        "git --version",
        "cd sub && git status",
        "git -C sub status",
        "timeout 5 git status",
    ];
    for command in commands {
        for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Auto] {
            let workspace = AttackWorkspace::new().in_mode(mode).with_allow_rules(&["Bash(cd:*)"]);
            assert_eq!(workspace.verdict(command), Ask, "{mode:?} {command}");
        }
        for mode in [PermissionMode::Plan, PermissionMode::DontAsk] {
            let workspace = AttackWorkspace::new().in_mode(mode).with_allow_rules(&["Bash(cd:*)"]);
            assert_eq!(workspace.verdict(command), Deny, "{mode:?} {command}");
        }
    }
    let workspace =
        AttackWorkspace::new().with_allow_rules(&["Bash(git status:*)"]).with_deny_rules(&[]);
    assert_eq!(workspace.verdict("git status --short"), Allow);
}

/// A workspace whose repository contains links: `d/link` and `d/dir` lead outside.
fn with_links(mode: PermissionMode) -> AttackWorkspace {
    let workspace = AttackWorkspace::new()
        .in_mode(mode)
        .with_allow_rules(&["Bash(mv:*)", "Bash(cp:*)"])
        .with_deny_rules(&[]);
    for file in ["a.txt", "b.txt", "d/plain", "f/x", "g/x"] {
        workspace.file(file);
    }
    symlink("/etc/passwd", workspace.path("d/link")).unwrap();
    symlink("/etc", workspace.path("d/dir")).unwrap();
    symlink("/etc/passwd", workspace.path("link")).unwrap();
    symlink("d", workspace.path("inner")).unwrap();
    workspace
}

// spec: PERMISSIONS-15
#[test]
fn no_command_leaves_the_workspace_through_a_link() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits] {
        for rules in [&[][..], &["Bash(mv:*)", "Bash(cp:*)"]] {
            let workspace = with_links(mode).with_allow_rules(rules);
            for command in [
                "cat link",
                "cat d/link",
                "cat inner/link",
                "cat d/dir/passwd",
                "mv d e && cat e/link",
                "mv d e; cat e/link",
                "mv d e && cat a.txt e/link",
                "mv d e | cat e/link",
                "mv d e && cp a.txt e/dir/x",
                "mv d e && echo x > e/dir/x",
                "mv d e && touch e/dir/x",
                "mv d e && grep -r x e",
                "mv d/link x && cat x",
                "mv d/dir x && cat x/passwd",
                "cp -r d e && cat e/link",
                "cp -a d e",
                "cp -rL d e",
                "cp -P d/link x && cat x",
                "cp -d d/link x && cat x",
                "cp a.txt d/dir",
                "cp a.txt d/link",
                "cp d/link x",
                "cp -r g/. f",
                "ln -s /etc e && cat e/passwd",
                "tar xf a.tar && cat x/y",
                "git checkout x && cat y",
                "npm test && cat y",
                "grep -R x .",
                "grep -R x d",
                "grep -rR x d",
                "diff -r d f",
                "diff -rN d f",
                "diff -N d f",
                "diff d f",
                "rg -L x d",
                "find -L d -name x",
                "ls -L d",
                "cd d && cat link",
                "cd inner && cat link",
            ] {
                let verdict = workspace.verdict(command);
                // A rule for `cp` covers what is copied, wherever it lies.
                let is_ruled = rules.len() == 2 && command == "cp d/link x";
                assert!(verdict != Allow || is_ruled, "{mode:?} {rules:?} {command}");
            }
        }
    }
}

/// A command that is analysed exactly runs without a question.
// spec: PERMISSIONS-07, PERMISSIONS-15
#[test]
fn ordinary_commands_are_not_asked_about() {
    let workspace = with_links(PermissionMode::Default).with_allow_rules(&["Bash(cargo test:*)"]);
    for command in [
        "ls",
        "ls -la d",
        "cat a.txt",
        "cat a.txt b.txt | sort -u | head -n 5",
        "cat d/plain",
        "cat inner/plain",
        "grep -n x a.txt",
        "grep -rn x .",
        "grep -c 'a b' a.txt",
        "rg x",
        "diff -u a.txt b.txt",
        "find . -name '*.rs' -type f",
        "wc -l a.txt",
        "cargo test",
        "cargo test 2>&1 | tail -20",
        "cargo test | grep -A 3 error",
        "cargo test --lib && echo done",
        "timeout 60 cargo test > /dev/null",
    ] {
        assert_eq!(workspace.verdict(command), Allow, "{command} {:?}", workspace.ruling(command));
    }
    let workspace = with_links(PermissionMode::AcceptEdits).with_allow_rules(&[]);
    for command in [
        "mkdir -p n/m && touch n/m/x",
        "mv a.txt c.txt",
        "mv a.txt d/c.txt",
        "cp a.txt c.txt",
        "cp a.txt b.txt f",
        "cp -t f a.txt",
        "echo x > c.txt && cat c.txt",
        "mkdir n && cp a.txt n/ && ls n",
        "cat a.txt > c.txt",
    ] {
        assert_eq!(workspace.verdict(command), Allow, "{command} {:?}", workspace.ruling(command));
    }
}

// spec: PERMISSIONS-15
#[test]
fn ending_the_process_that_keeps_the_rules_is_asked_about() {
    let own = std::process::id();
    let workspace = AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&[]);
    for command in [
        "kill -9 $PPID".to_owned(),
        "kill -9 \"$PPID\"".to_owned(),
        format!("kill {own}"),
        format!("kill -s KILL {own}"),
        "kill -9 -1".to_owned(),
        "pkill windlass".to_owned(),
        "pkill -f 'windlass worker'".to_owned(),
        "killall windlass".to_owned(),
    ] {
        assert_eq!(workspace.verdict(&command), Ask, "{command}");
    }
    for command in ["kill 1234567", "kill -1 1234567", "pkill node"] {
        assert_eq!(workspace.verdict(command), Allow, "{command}");
    }
}
