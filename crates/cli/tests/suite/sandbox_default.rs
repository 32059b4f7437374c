//! The sandbox without any flag: it is there, and where the machine has none, people decide.

use std::process::Stdio;

use serde_json::json;

use crate::test_home::{CommandOutput, TestHome};

fn script(command: &str) -> String {
    let call = json!({ "command": command });
    format!(
        "when user is \"go\" and results 0\n  call Bash {call}\nwhen any\n  say \"${{result}}\"\n"
    )
}

/// Starts a program with a system call filter: no namespaces, no Landlock.
const WITHOUT_SANDBOX: &str = r#"
import ctypes, os, struct, sys
def line(code, k, yes=0, no=0): return struct.pack("HBBI", code, yes, no, k)
LOAD, EQUAL, HAS, RETURN = 0x20, 0x15, 0x45, 0x06
program = b"".join([
    line(LOAD, 0),
    line(EQUAL, 444, 6, 0),                    # landlock_create_ruleset
    line(EQUAL, 435, 5, 0),                    # clone3
    line(EQUAL, 272, 5, 0),                    # unshare
    line(EQUAL, 56, 0, 2),                     # clone
    line(LOAD, 16),
    line(HAS, 0x7e020000, 2, 0),               # with a new namespace
    line(RETURN, 0x7fff0000),
    line(RETURN, 0x00050000 | 38),
    line(RETURN, 0x00050000 | 1),
])
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(program)
filter = struct.pack("HP", len(program) // 8, ctypes.addressof(buffer))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(filter), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// Runs the binary on a machine without a sandbox; `None` where that cannot be imitated.
fn run_without_sandbox(home: &TestHome, args: &[&str]) -> Option<CommandOutput> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    home.write("filter.py", WITHOUT_SANDBOX);
    let mut given = vec!["filter.py", env!("CARGO_BIN_EXE_windlass")];
    given.extend(args);
    let mut command = home.program("python3");
    let output = command.env("IS_SANDBOX", "1").args(&given).stdin(Stdio::null()).output().ok()?;
    Some(CommandOutput::from(output))
}

fn prompt<'a>(store: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["-p", "go", "--script", "a.script", "--store", store], more].concat()
}

// spec: SANDBOX-01
#[test]
fn commands_are_confined_without_a_flag() {
    let home = TestHome::new(&script("echo x > /usr/windlass-made; echo y > made; cat made"));
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "Bash"]);
    assert!(ran.out.contains("Read-only file system") && ran.out.contains('y'), "{}", ran.out);
    assert!(!std::path::Path::new("/usr/windlass-made").exists());
    let frames = ["--output-format", "stream-json", "--verbose"];
    let ran = home.run_prompt_unattended("hello", &frames);
    let init: serde_json::Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    assert_eq!(init["sandbox"], "workspace-write");
}

// spec: SANDBOX-02
#[test]
fn without_a_sandbox_every_command_asks_and_modes_that_do_not_are_refused() {
    let home = TestHome::new(&script("touch made"));
    let store = home.path("w.db").display().to_string();
    let run = |more: &[&str]| run_without_sandbox(&home, &prompt(&store, more));
    let Some(asked) = run(&["--allowedTools", "Bash"]) else { return };
    assert!(asked.err.contains("No sandbox is available"), "{}", asked.err);
    assert!(!home.path("made").exists(), "it ran: {} {}", asked.out, asked.err);
    for mode in ["bypassPermissions", "auto"] {
        let refused = run(&["--permission-mode", mode]).unwrap();
        assert!(refused.err.contains("no sandbox is available"), "{mode}: {}", refused.err);
        assert!(!home.path("made").exists(), "{mode}");
    }
    let required = run(&["--allowedTools", "Bash", "--sandbox", "workspace-write"]).unwrap();
    assert!(required.err.contains("--sandbox requires the level"), "{}", required.err);
    assert_ne!(required.code, 0);
    let off = run(&["--allowedTools", "Bash", "--sandbox", "off"]).unwrap();
    assert!(home.path("made").exists(), "{} {}", off.out, off.err);
}

// spec: SANDBOX-03
#[test]
fn only_the_flag_switches_the_sandbox_off() {
    let home = TestHome::new(&script("true"));
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", "[sandbox]\nlevel = \"off\"\n");
    let refused = home.run_prompt_unattended("go", &["--allowedTools", "Bash"]);
    assert!(refused.err.contains("--sandbox off"), "{}", refused.err);
    assert_eq!(refused.code, 2);
    home.write("home/config.toml", "");
    let settings = json!({"sandbox": {"enabled": false}}).to_string();
    let shown = home.run_bare(&["sandbox", "explain", "--settings", &settings]);
    assert!(shown.out.contains("Level: workspace-write (from the default)"), "{}", shown.out);
}

// spec: SANDBOX-04
#[test]
fn with_auto_allow_a_confined_command_asks_no_one_and_a_rule_still_does() {
    let home = TestHome::new(&script("for f in a b; do touch $f; done; ls"));
    let run = |more: &[&str]| home.run_prompt_unattended("go", more);
    let asked = run(&[]);
    assert!(!home.path("a").exists(), "{}", asked.out);
    let settings = json!({"sandbox": {"autoAllowBashIfSandboxed": true}}).to_string();
    run(&["--settings", &settings, "--disallowedTools", "Bash(touch:*)"]);
    assert!(!home.path("a").exists(), "a rule denies it");
    let ran = run(&["--settings", &settings]);
    assert!(home.path("a").exists() && home.path("b").exists(), "{} {}", ran.out, ran.err);
    let home = TestHome::new(&script("for f in a b; do touch $f; done"));
    let ran = home.run_prompt_unattended("go", &["--permission-mode", "acceptEdits"]);
    assert!(home.path("b").exists(), "{} {}", ran.out, ran.err);
}

// spec: SANDBOX-05
#[test]
fn git_that_reads_asks_no_one_and_its_programs_reach_nothing() {
    let home =
        TestHome::new(&script("git log --oneline -1 && git diff --stat && git status --short"));
    let git = |args: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
        let ended = home.program("git").args(who).args(args).output().unwrap();
        assert!(ended.status.success(), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    git(&["init", "-q"]);
    home.write("f.txt", "one\n");
    home.write("tool.sh", "#!/bin/sh\ntouch ran /tmp/ran-too\ncat \"$1\"\n");
    git(&["add", "f.txt"]);
    git(&["commit", "-qm", "first"]);
    home.write("f.txt", "two\n");
    home.write(".gitattributes", "*.txt diff=x\n");
    git(&["config", "diff.x.textconv", "sh tool.sh"]);
    git(&["config", "core.fsmonitor", "sh tool.sh"]);
    let shown = home.run_bare(&["sandbox", "explain", "--", "git", "log"]);
    assert!(shown.out.contains("Runs without approval: read-only command"), "{}", shown.out);
    assert!(shown.out.contains("It only reads"), "{}", shown.out);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("first") && ran.out.contains("f.txt"), "{} {}", ran.out, ran.err);
    assert!(!home.path("ran").exists(), "the repository's program wrote");
}

/// While a command of another process runs, an empty folder stands where a file could be made.
#[test]
fn a_folder_that_holds_the_place_of_a_file_is_no_file() {
    let home = TestHome::new(&script("echo fine"));
    for name in [".mcp.json", ".claude"] {
        std::fs::create_dir(home.path(name)).unwrap();
    }
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.code == 0 && ran.out.contains("fine"), "{} {}", ran.out, ran.err);
    let listed = home.run_bare(&["mcp", "list"]);
    assert_eq!(listed.code, 0, "{}", listed.err);
}

#[test]
fn where_the_workspace_is_the_home_folder_a_confined_command_asks() {
    let home = TestHome::new(&script("python3 -c 'open(\".bashrc\", \"w\").write(\"evil\")'"));
    let folder = home.path("").display().to_string();
    let (store, outer) = (home.path("w.db"), home.path("..").canonicalize().unwrap());
    let accepting = ["--permission-mode", "acceptEdits"];
    let auto_allow = ["--settings", r#"{"sandbox":{"autoAllowBashIfSandboxed":true}}"#];
    let with_folder_above = [&accepting[..], &["--add-dir", outer.to_str().unwrap()]].concat();
    let elsewhere = home.path("elsewhere").display().to_string();
    std::fs::create_dir(&elsewhere).unwrap();
    let at_home = [(&accepting[..], "."), (&auto_allow, "."), (&with_folder_above, &*elsewhere)];
    for (more, workspace) in at_home {
        let args = prompt(store.to_str().unwrap(), more);
        let args = [&args[..], &["--workspace", workspace]].concat();
        let ran = home.run_with_env(&args, &[("HOME", &folder)]);
        assert!(ran.err.contains("requires approval"), "{more:?}: {} {}", ran.out, ran.err);
        assert!(!home.path(".bashrc").exists(), "{more:?} wrote it");
    }
    let ran = home.run_prompt_unattended("go", &accepting);
    assert!(home.path(".bashrc").exists(), "elsewhere it runs: {} {}", ran.out, ran.err);
}
