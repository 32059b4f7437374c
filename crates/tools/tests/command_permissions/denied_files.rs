//! Every way to a file that may not be read or edited.

use windlass_core::permission::PermissionMode;

use super::WRITERS;
use crate::permission_attacks::{AttackWorkspace, Verdict};
use Verdict::{Allow, Ask, Deny};

/// Ways to read a file that name it in the words of the command, and that are therefore denied.
const NAMED_READS: &[&str] = &[
    "cat {}",
    "cat ./{}",
    "cat sub/../{}",
    "head -n 1 {}",
    "grep x {}",
    "diff a {}",
    "dd if={}",
    "cp {} x",
    "cp {} x && cat x",
    "mv {} x",
    "mv {} x && cat x",
    "install {} x",
    "ln {} x",
    "ln -s {} x",
    "sed -n p {}",
    "awk 1 {}",
    "base64 {}",
    "python3 x.py {}",
    "unknown --file={}",
    "unknown -f{}",
    "curl -F file=@x {}",
    "git show HEAD:{}",
    "git diff {}",
    "git log -p -- {}",
    "cat < {}",
    "tar cf - {}",
];

/// Ways to read a file without naming it, which therefore require approval.
const HIDDEN_READS: &[&str] = &[
    "grep -r x .",
    "grep -rn x",
    "grep -r x sub/..",
    "rg x",
    "rg -n x .",
    "cat .en?",
    "cat .e*",
    "cat .[e]nv",
    "cat *",
    "cat .*",
    "cp -r . /tmp/x",
    "cp .e* x",
    "tar cf x.tar .",
    "zip -r x.zip .",
    "rsync -a . /tmp/x",
    "unknown .",
    "git show HEAD",
    "git log -p",
    "git log --patch",
    "git log -L1,2:a",
    "git log -Sx",
    "git diff",
    "git diff HEAD~1",
    "git blame a",
    "git grep x",
    "git cat-file -p HEAD:x",
    "git archive HEAD",
    "git stash show -p",
    "git commit -v",
    "git format-patch HEAD~1",
    "dd if=.en? of=x",
    "sed -n p .en?",
];

// spec: PERMISSIONS-17
#[test]
fn a_file_that_may_not_be_read_is_not_read_by_a_command() {
    for rule in ["Read(.env)", "Read(/.env)", "Read(**/.env)"] {
        let workspace = AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&[rule]);
        workspace.file(".env");
        workspace.file("a");
        for command in NAMED_READS {
            let command = command.replace("{}", ".env");
            assert_eq!(workspace.verdict(&command), Deny, "{rule} {command}");
            let bypass = AttackWorkspace::new()
                .in_mode(PermissionMode::BypassPermissions)
                .with_deny_rules(&[rule]);
            assert_eq!(bypass.verdict(&command), Deny, "{rule} {command}");
        }
        for command in HIDDEN_READS {
            assert_eq!(workspace.verdict(command), Ask, "{rule} {command}");
        }
        for command in [
            "cat a",
            "grep x a",
            "ls",
            "ls -la .",
            "cat src/*.rs",
            "find . -name x",
            "git status",
            "git log --oneline",
            "git add a",
            "git commit -m x",
            "git push",
            "npm test",
        ] {
            assert_eq!(workspace.verdict(command), Allow, "{rule} {command}");
        }
    }
}

// spec: PERMISSIONS-17
#[test]
fn a_file_that_may_not_be_edited_is_not_edited_by_a_command() {
    for mode in
        [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::BypassPermissions]
    {
        let workspace = AttackWorkspace::new()
            .in_mode(mode)
            .with_allow_rules(&["Bash"])
            .with_deny_rules(&["Edit(locked/**)"]);
        workspace.file("locked/f");
        for writer in WRITERS {
            let command = writer.replace("{}", "locked/f");
            assert_eq!(workspace.verdict(&command), Deny, "{mode:?} {command}");
        }
        for command in ["cat locked/f", "grep -r x .", "echo x > open", "tee open"] {
            assert_eq!(workspace.verdict(command), Allow, "{mode:?} {command}");
        }
    }
    let workspace =
        AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&["Edit(locked/**)"]);
    workspace.file("locked/f");
    for command in ["rm l*/f", "rm -r .", "tee locke?/f", "chmod -R 777 .", "truncate -s0 */f"] {
        assert_eq!(workspace.verdict(command), Ask, "{command}");
    }
}

// spec: PERMISSIONS-20
#[test]
fn a_home_folder_as_workspace_gives_away_no_keys() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits] {
        let workspace =
            AttackWorkspace::at_home().in_mode(mode).with_allow_rules(&[]).with_deny_rules(&[]);
        workspace.file(".ssh/id_ed25519");
        workspace.file(".aws/credentials");
        workspace.file("notes");
        for command in [
            "cat .ssh/id_ed25519",
            "cat ~/.aws/credentials",
            "grep -r KEY .",
            "grep -r KEY",
            "grep -r KEY ~",
            "grep -r KEY .ssh",
            "rg KEY",
            "cp .ssh/id_ed25519 x",
            "cp notes .local/bin/ls",
            "echo x > .local/bin/ls",
            "touch bin/ls",
            "echo x > .bashrc",
            "cp notes .profile",
        ] {
            assert_ne!(workspace.verdict(command), Allow, "{mode:?} {command}");
        }
        assert_eq!(workspace.verdict("cat notes"), Allow);
        assert_eq!(workspace.verdict("grep -rn x src"), Allow);
    }
}
