//! Every wrapper before a denied program, and options that write or run something.

use windlass_core::permission::PermissionMode;

use crate::permission_attacks::{AttackWorkspace, Verdict};
use Verdict::{Allow, Ask, Deny};

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
        let workspace = AttackWorkspace::new()
            .in_mode(mode)
            .with_allow_rules(&["Bash"])
            .with_deny_rules(&["Bash(rm:*)"]);
        for wrapper in WRAPPERS {
            for program in ["rm", "/bin/rm", "./rm"] {
                let quoted = wrapper.ends_with("-c") || wrapper.ends_with("-S");
                let quote = if quoted { "'" } else { "" };
                let command = format!("{wrapper} {quote}{program} f{quote}");
                assert_eq!(workspace.verdict(&command), Deny, "{mode:?} {command}");
                let twice = format!("nice {command}");
                assert_eq!(workspace.verdict(&twice), Deny, "{mode:?} {twice}");
            }
        }
        for command in ["env -S'rm f'", "env --split-string='rm f'", "env -vS 'rm f'"] {
            assert_eq!(workspace.verdict(command), Deny, "{mode:?} {command}");
        }
    }
}

// spec: PERMISSIONS-18
#[test]
fn a_denied_program_that_an_unknown_one_may_run_is_asked_about() {
    let workspace =
        AttackWorkspace::new().with_allow_rules(&["Bash"]).with_deny_rules(&["Bash(rm:*)"]);
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
        assert_eq!(workspace.verdict(command), Ask, "{command}");
    }
    for command in ["wrapper f", "npm test", "echo rm", "git rm f", "grep rm f", "cat rm"] {
        assert_eq!(workspace.verdict(command), Allow, "{command}");
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
        let workspace = AttackWorkspace::new().with_allow_rules(&[&rule]).with_deny_rules(&[]);
        assert_eq!(workspace.verdict(command), Allow, "{rule} {command}");
        for option in *options {
            let command = format!("{command} {option}");
            assert_ne!(workspace.verdict(&command), Allow, "{rule} {command}");
        }
    }
    let workspace = AttackWorkspace::new()
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
        assert_ne!(workspace.verdict(command), Allow, "{command}");
    }
    for command in ["sed -n 1,5p a", "sed 's/a/b/g' a", "awk '{print $1}' a", "tar tf a.tar"] {
        assert_eq!(workspace.verdict(command), Allow, "{command}");
    }
}
