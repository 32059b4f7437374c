//! Whole classes of commands and their permission decisions: every writer on every protected path,
//! every wrapper before a denied program, every way to a file that may not be read. Each class is a
//! product of tables, so that a new row is tried in every combination.

use std::os::unix::fs::symlink;

use windlass_core::permission::PermissionMode;

use crate::permission_attacks::{AttackWorkspace, Verdict};
use Verdict::{Allow, Ask, Deny};

const EVERY_MODE: [PermissionMode; 5] = [
    PermissionMode::Default,
    PermissionMode::AcceptEdits,
    PermissionMode::Auto,
    PermissionMode::DontAsk,
    PermissionMode::BypassPermissions,
];

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

/// Commands that say which file they write.
const WRITERS: &[&str] = &[
    "echo x > {}",
    "echo x >> {}",
    "echo x >| {}",
    "echo x &> {}",
    "cat a 2> {}",
    "tee {}",
    "tee -a b {}",
    "echo x | tee {} b",
    "dd if=a of={}",
    "cp a {}",
    "cp -f -- a {}",
    "cp -T a {}",
    "cp --no-target-directory a {}",
    "mv a {}",
    "mv {} a",
    "mv -fT a {}",
    "install a {}",
    "install -m 755 a {}",
    "install -D a {}",
    "ln a {}",
    "ln {} a",
    "ln -s a {}",
    "ln -sf a {}",
    "sed -i s/a/b/ {}",
    "sed -Ei s/a/b/ {}",
    "sed -i.bak -e s/a/b/ {}",
    "sed --in-place s/a/b/ {}",
    "truncate -s 0 {}",
    "rm {}",
    "rm -rf {}",
    "chmod +x {}",
    "touch {}",
    "mkdir -p {}",
    "sort -o {} a",
    "sort --output={} a",
    "curl -o {} http://localhost",
    "rsync a {}",
    "true && tee {}",
    "timeout 5 tee {}",
    "sh -c 'tee {}'",
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

fn with_hooks_path(place: AttackWorkspace) -> AttackWorkspace {
    std::fs::create_dir_all(place.path(".git/hooks")).unwrap();
    std::fs::write(place.path(".git/config"), "[core]\nhooksPath = .husky\n").unwrap();
    // The protected paths are determined when a session begins.
    place.looked_up_again()
}

// spec: PERMISSIONS-15
#[test]
fn no_command_writes_a_protected_place() {
    for mode in EVERY_MODE {
        let place = with_hooks_path(AttackWorkspace::new())
            .in_mode(mode)
            .with_allow_rules(&["Bash"])
            .with_deny_rules(&[]);
        for path in PROTECTED {
            let whole = place.path(path).display().to_string();
            for writer in WRITERS {
                for path in [*path, &whole] {
                    let command = writer.replace("{}", path);
                    assert_eq!(place.verdict(&command), Deny, "{mode:?} {command}");
                }
            }
        }
    }
    let rules = ["Bash(tee:*)", "Bash(tee .git/config)"];
    let place =
        with_hooks_path(AttackWorkspace::new()).with_allow_rules(&rules).with_deny_rules(&[]);
    for path in [".git/config", "sub/../.git/config", ".GIT/config", "./.git//config"] {
        assert_eq!(place.verdict(&format!("tee {path}")), Deny, "{path}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn a_protected_place_is_found_wherever_the_target_is_said() {
    let place = with_hooks_path(AttackWorkspace::new())
        .in_mode(PermissionMode::AcceptEdits)
        .with_allow_rules(&["Bash"]);
    place.file("sub/.mcp.json");
    place.file("sub/.claude/x.md");
    let whole = place.zones.root().display().to_string();
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
            assert_eq!(place.verdict(&command), Deny, "{command}");
        }
    }
    assert_eq!(place.verdict("ln sub/.mcp.json"), Deny);
    for whole_folder in ["cp -rT sub {}", "cp -r sub/. {}", "cp -a sub/. {}", "cp -r sub {}"] {
        let command = whole_folder.replace("{}", &whole);
        let place = AttackWorkspace::new()
            .in_mode(PermissionMode::AcceptEdits)
            .with_allow_rules(&["Bash(cp:*)"]);
        place.file("sub/.mcp.json");
        assert_ne!(place.verdict(&command), Allow, "{command}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn what_may_write_a_protected_place_is_covered_by_no_rule() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::Auto] {
        let rules = ["Bash", "Bash(python3:*)", "Bash(git config:*)"];
        let place = with_hooks_path(AttackWorkspace::new())
            .in_mode(mode)
            .with_allow_rules(&rules)
            .with_deny_rules(&[]);
        for path in PROTECTED {
            for writer in MAYBE_WRITERS {
                let command = writer.replace("{}", path);
                assert_eq!(place.verdict(&command), Ask, "{mode:?} {command}");
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
            assert_eq!(place.verdict(command), Ask, "{mode:?} {command}");
        }
        for command in
            ["git config --get a.b", "git config a.b", "git config --list", "cat .git/config"]
        {
            assert_eq!(place.verdict(command), Allow, "{mode:?} {command}");
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
    let place = AttackWorkspace::new().with_allow_rules(&rules);
    place.file("package.json");
    for command in COVERED {
        assert_eq!(place.verdict(command), Allow, "{command}");
        for redirection in REDIRECTIONS {
            for file in ["package.json", "new", "src/main.rs"] {
                let command = format!("{command} {}", redirection.replace("{}", file));
                assert_eq!(place.verdict(&command), Ask, "{command}");
                assert_eq!(place.verdict(&format!("{command} && npm test")), Ask, "{command}");
            }
            let command = format!("{command} {}", redirection.replace("{}", "/dev/null"));
            assert_eq!(place.verdict(&command), Allow, "{command}");
        }
    }
    for covered in [&["Bash(echo:*)", "Edit"][..], &["Bash(echo:*)", "Edit(new)"]] {
        let place = AttackWorkspace::new().with_allow_rules(covered);
        assert_eq!(place.verdict("echo x > new"), Allow, "{covered:?}");
    }
    let place = AttackWorkspace::new().with_allow_rules(&["Bash(echo:*)", "Edit(src/**)"]);
    assert_eq!(place.verdict("echo x > new"), Ask);
    let place = AttackWorkspace::new().in_mode(PermissionMode::AcceptEdits);
    assert_eq!(place.verdict("cat a > new"), Allow);
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
            let place = AttackWorkspace::new().in_mode(mode).with_allow_rules(&["Bash(cd:*)"]);
            assert_eq!(place.verdict(command), Ask, "{mode:?} {command}");
        }
        for mode in [PermissionMode::Plan, PermissionMode::DontAsk] {
            let place = AttackWorkspace::new().in_mode(mode).with_allow_rules(&["Bash(cd:*)"]);
            assert_eq!(place.verdict(command), Deny, "{mode:?} {command}");
        }
    }
    let place =
        AttackWorkspace::new().with_allow_rules(&["Bash(git status:*)"]).with_deny_rules(&[]);
    assert_eq!(place.verdict("git status --short"), Allow);
}

/// A workspace whose repository contains links: `d/link` and `d/dir` lead outside.
fn with_links(mode: PermissionMode) -> AttackWorkspace {
    let place = AttackWorkspace::new()
        .in_mode(mode)
        .with_allow_rules(&["Bash(mv:*)", "Bash(cp:*)"])
        .with_deny_rules(&[]);
    for file in ["a.txt", "b.txt", "d/plain", "f/x", "g/x"] {
        place.file(file);
    }
    symlink("/etc/passwd", place.path("d/link")).unwrap();
    symlink("/etc", place.path("d/dir")).unwrap();
    symlink("/etc/passwd", place.path("link")).unwrap();
    symlink("d", place.path("inner")).unwrap();
    place
}

// spec: PERMISSIONS-15
#[test]
fn no_command_leaves_the_workspace_through_a_link() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits] {
        for rules in [&[][..], &["Bash(mv:*)", "Bash(cp:*)"]] {
            let place = with_links(mode).with_allow_rules(rules);
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
                let verdict = place.verdict(command);
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
    let place = with_links(PermissionMode::Default).with_allow_rules(&["Bash(cargo test:*)"]);
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
        assert_eq!(place.verdict(command), Allow, "{command} {:?}", place.ruling(command));
    }
    let place = with_links(PermissionMode::AcceptEdits).with_allow_rules(&[]);
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
        assert_eq!(place.verdict(command), Allow, "{command} {:?}", place.ruling(command));
    }
}

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
        let place = AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&[rule]);
        place.file(".env");
        place.file("a");
        for command in NAMED_READS {
            let command = command.replace("{}", ".env");
            assert_eq!(place.verdict(&command), Deny, "{rule} {command}");
            let bypass = AttackWorkspace::new()
                .in_mode(PermissionMode::BypassPermissions)
                .with_deny_rules(&[rule]);
            assert_eq!(bypass.verdict(&command), Deny, "{rule} {command}");
        }
        for command in HIDDEN_READS {
            assert_eq!(place.verdict(command), Ask, "{rule} {command}");
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
            assert_eq!(place.verdict(command), Allow, "{rule} {command}");
        }
    }
}

// spec: PERMISSIONS-17
#[test]
fn a_file_that_may_not_be_edited_is_not_edited_by_a_command() {
    for mode in
        [PermissionMode::Default, PermissionMode::AcceptEdits, PermissionMode::BypassPermissions]
    {
        let place = AttackWorkspace::new()
            .in_mode(mode)
            .with_allow_rules(&["Bash"])
            .with_deny_rules(&["Edit(locked/**)"]);
        place.file("locked/f");
        for writer in WRITERS {
            let command = writer.replace("{}", "locked/f");
            assert_eq!(place.verdict(&command), Deny, "{mode:?} {command}");
        }
        for command in ["cat locked/f", "grep -r x .", "echo x > open", "tee open"] {
            assert_eq!(place.verdict(command), Allow, "{mode:?} {command}");
        }
    }
    let place =
        AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&["Edit(locked/**)"]);
    place.file("locked/f");
    for command in ["rm l*/f", "rm -r .", "tee locke?/f", "chmod -R 777 .", "truncate -s0 */f"] {
        assert_eq!(place.verdict(command), Ask, "{command}");
    }
}

/// Wrappers that may precede a command.
const WRAPPERS: &[&str] = &[
    "time",
    "time -p",
    "time A=b",
    "time !",
    "!",
    "A=b",
    "A=b B=c",
    "env",
    "env A=b",
    "env -i",
    "env -u A",
    "nice",
    "nice -n 5",
    "nice -5",
    "nohup",
    "stdbuf -oL",
    "stdbuf -o L",
    "timeout 5",
    "timeout -s KILL 5",
    "command",
    "builtin",
    "exec",
    "sudo",
    "sudo -u root",
    "doas",
    "setsid",
    "setarch x86_64",
    "setarch -R",
    "x86_64",
    "i386",
    "linux32",
    "linux64 -R",
    "prlimit --nofile=10",
    "choom -n 0 --",
    "ssh-agent",
    "ionice -c 3",
    "chrt 1",
    "taskset 1",
    "numactl -N 0",
    "unshare -r",
    "setpriv --no-new-privs",
    "flock x",
    "script -c",
    "xargs",
    "xargs -n 1",
    "parallel",
    "busybox",
    "watch",
    "strace",
    "nohup nice time A=b",
    "sh -c",
    "bash -c",
    "env -S",
    "env time A=b",
];

// spec: PERMISSIONS-18
#[test]
fn a_denied_program_is_found_behind_every_wrapper() {
    for mode in [PermissionMode::Default, PermissionMode::BypassPermissions] {
        let place = AttackWorkspace::new()
            .in_mode(mode)
            .with_allow_rules(&["Bash"])
            .with_deny_rules(&["Bash(rm:*)"]);
        for wrapper in WRAPPERS {
            for program in ["rm", "/bin/rm", "./rm"] {
                let quoted = wrapper.ends_with("-c") || wrapper.ends_with("-S");
                let quote = if quoted { "'" } else { "" };
                let command = format!("{wrapper} {quote}{program} f{quote}");
                assert_eq!(place.verdict(&command), Deny, "{mode:?} {command}");
                let twice = format!("nice {command}");
                assert_eq!(place.verdict(&twice), Deny, "{mode:?} {twice}");
            }
        }
        for command in ["env -S'rm f'", "env --split-string='rm f'", "env -vS 'rm f'"] {
            assert_eq!(place.verdict(command), Deny, "{mode:?} {command}");
        }
    }
}

// spec: PERMISSIONS-18
#[test]
fn a_denied_program_that_an_unknown_one_may_run_is_asked_about() {
    let place = AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&["Bash(rm:*)"]);
    for command in [
        "wrapper rm f",
        "wrapper -x rm f",
        "wrapper --run=rm f",
        "wrapper 'rm f'",
        "wrapper /bin/rm f",
        "wrapper 'a;rm f'",
        "python3 -c 'rm'",
        "wrapper -crm",
    ] {
        assert_eq!(place.verdict(command), Ask, "{command}");
    }
    for command in ["wrapper f", "npm test", "echo rm", "git rm f", "grep rm f", "cat rm"] {
        assert_eq!(place.verdict(command), Allow, "{command}");
    }
}

/// A command that a rule allows, and variants with a word that makes it write or run something.
const HAZARDS: &[(&str, &[&str])] = &[
    ("git grep x", &["-O", "-Oid", "--open-files-in-pager=id", "--open"]),
    ("git rebase main", &["-x id", "--exec id", "--exec=id", "-i", "--interactive"]),
    (
        "git clone a",
        &["-u id", "-uid", "--upload-pack=id", "-c a=b", "--config a=b", "--template=x"],
    ),
    ("git difftool", &["-x id", "--extcmd=id", "-t x", "--tool=x"]),
    ("git archive HEAD", &["-o x", "--output=x", "--exec=id"]),
    ("git log", &["--output=x", "--ext-diff", "--textconv"]),
    ("git bisect", &["run id"]),
    ("git submodule", &["foreach id"]),
    ("git format-patch a", &["-o x", "--output-directory=x"]),
    ("git fetch", &["--upload-pack=id", "--upload-p id"]),
    ("sed p a", &["-i", "-n -i", "--in-place", "-f x", "-e 'e id'", "-e 'w x'", "-e 's/a/b/e'"]),
    ("awk 1 a", &["-f x", "'BEGIN{system(\"id\")}'", "'{print > \"x\"}'", "'{print | \"id\"}'"]),
    ("tar cf x a", &["-I id", "--to-command=id", "--use-compress-program=id", "-F id"]),
    ("sort a", &["-o x", "--output=x", "--compress-program=id"]),
    ("find . -name a", &["-delete", "-exec id", "-fprint x", "-ok id"]),
    ("rg x", &["--pre id", "--pre=id", "--hostname-bin=id"]),
    ("rsync a b", &["-e id", "--rsh=id", "--rsync-path=id"]),
    ("curl localhost", &["-o x", "-O", "-K x", "--config x", "--output x"]),
    ("man ls", &["-P id", "--pager=id"]),
];

// spec: PERMISSIONS-19
#[test]
fn a_rule_covers_no_option_that_writes_or_runs_unless_it_says_so() {
    for (command, options) in HAZARDS {
        let words: Vec<&str> = command.split(' ').collect();
        let prefix = if words[0] == "git" { words[..2].join(" ") } else { words[0].to_owned() };
        let rule = format!("Bash({prefix}:*)");
        let place = AttackWorkspace::new().with_allow_rules(&[&rule]).with_deny_rules(&[]);
        assert_eq!(place.verdict(command), Allow, "{rule} {command}");
        for option in *options {
            let command = format!("{command} {option}");
            assert_ne!(place.verdict(&command), Allow, "{rule} {command}");
        }
    }
    let place = AttackWorkspace::new()
        .with_allow_rules(&["Bash(sed:*)", "Bash(awk:*)", "Bash(tar:*)"])
        .with_deny_rules(&[]);
    for command in [
        "sed 's/x/id/e'",
        "sed '1e id' a",
        "sed -n '/x/w y' a",
        "sed 'w x' a",
        "tar cIf id x a",
        "tar cFf id x a",
        "awk 'BEGIN{system(\"id\")}'",
    ] {
        assert_ne!(place.verdict(command), Allow, "{command}");
    }
    for command in ["sed -n 1,5p a", "sed 's/a/b/g' a", "awk '{print $1}' a", "tar tf a.tar"] {
        assert_eq!(place.verdict(command), Allow, "{command}");
    }
}

// spec: PERMISSIONS-15
#[test]
fn ending_the_process_that_keeps_the_rules_is_asked_about() {
    let own = std::process::id();
    let place = AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&[]);
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
        assert_eq!(place.verdict(&command), Ask, "{command}");
    }
    for command in ["kill 1234567", "kill -1 1234567", "pkill node"] {
        assert_eq!(place.verdict(command), Allow, "{command}");
    }
}

// spec: PERMISSIONS-20
#[test]
fn a_home_folder_as_workspace_gives_away_no_keys() {
    for mode in [PermissionMode::Default, PermissionMode::AcceptEdits] {
        let place =
            AttackWorkspace::at_home().in_mode(mode).with_allow_rules(&[]).with_deny_rules(&[]);
        place.file(".ssh/id_ed25519");
        place.file(".aws/credentials");
        place.file("notes");
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
            assert_ne!(place.verdict(command), Allow, "{mode:?} {command}");
        }
        assert_eq!(place.verdict("cat notes"), Allow);
        assert_eq!(place.verdict("grep -rn x src"), Allow);
    }
}
