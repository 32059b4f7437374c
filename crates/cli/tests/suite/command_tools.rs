//! Command tools: tables in `config.toml` and folders of programs, through the real binary.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::test_home::TestHome;

/// A script that calls a tool once and then says what came back.
fn calling(tool: &str, input: &str) -> String {
    format!("when results 0\n  call {tool} {input}\nwhen any\n  say \"got: ${{result}}\"\n")
}

fn home(config: &str, script: &str) -> TestHome {
    let home = TestHome::new(script);
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", config);
    home
}

fn program(home: &TestHome, name: &str, text: &str) {
    let path = home.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

const ECHO: &str = r#"
[tools.echo_it]
description = "Prints its argument"
argv = ["printf", "<%s>", "--text={text}"]
input = { text = "string" }
"#;

// spec: TOOLS-10
#[test]
fn a_table_is_a_tool_and_no_shell_reads_its_arguments() {
    let hostile = r#"{"text": "a; touch owned $(touch owned) `touch owned` '\" \\n | > owned"}"#;
    let home = home(ECHO, &calling("echo_it", hostile));
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "echo_it"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("got: <--text=a; touch owned $(touch owned) `"), "{}", ran.out);
    assert!(!home.path("owned").exists());
}

// spec: TOOLS-10
#[test]
fn without_a_rule_a_call_needs_approval_unless_the_tool_only_reads() {
    let asked = home(ECHO, &calling("echo_it", r#"{"text": "x"}"#));
    let ran = asked.run_prompt("go", &["--conversation", "c"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let explained = asked.run(&["explain", "c"]).out;
    assert!(explained.contains("Allow echo_it with these arguments?"), "{explained}");
    assert!(explained.contains("text: x"), "{explained}");
    let ran = asked.run(&["approve", "c", "1", "--script", "a.script"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "got: <--text=x>"), "{}", ran.err);
    let reads = home(&format!("{ECHO}read_only = true\n"), &calling("echo_it", r#"{"text": "x"}"#));
    let ran = reads.run_prompt_unattended("go", &[]);
    assert_eq!((ran.code, ran.out.trim()), (0, "got: <--text=x>"), "{}", ran.err);
    let denied = reads.run_prompt_unattended("go", &["--disallowedTools", "echo_it"]);
    assert!(denied.out.contains("no tool named"), "{}", denied.out);
}

#[test]
fn without_placeholders_the_input_is_json_on_standard_input() {
    let config = "[tools.set_colors]\ndescription = \"d\"\nargv = [\"./tools/colors\", \"-v\"]\n\
                  input = { primary = \"string\", accent = \"string?\" }\npass_env = [\"TOKEN\"]\n\
                  env = { LEVEL = \"3\" }\n";
    let home = home(config, &calling("set_colors", r##"{"primary": "#fff"}"##));
    program(&home, "tools/colors", "cat; echo \" $1 $TOKEN $LEVEL $SECRET\"; echo told >&2");
    let args = ["-p", "go", "--script", "a.script", "--store", "w.db", "--allowedTools"];
    let args = [&args[..], &["set_colors"]].concat();
    let ran = home.run_with_env(&args, &[("TOKEN", "t-1"), ("SECRET", "s-1")]);
    assert!(ran.out.contains(r##"got: {"primary": "#fff"} -v t-1 3"##), "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("s-1") && !ran.out.contains("told"), "{}", ran.out);
}

#[test]
fn an_input_that_does_not_fit_and_a_program_that_fails_are_told_to_the_model() {
    let config = format!(
        "{ECHO}\n[tools.broken]\ndescription = \"d\"\nargv = [\"sh\", \"-c\", \"echo out; echo why >&2; exit 7\"]\n\
         [tools.missing]\ndescription = \"d\"\nargv = [\"./not-there\"]\n\
         [tools.slow]\ndescription = \"d\"\nargv = [\"sleep\", \"600\"]\ntimeout_ms = 300\n"
    );
    for (tool, input, says) in [
        ("echo_it", r#"{"text": 3}"#, "is not of type"),
        ("echo_it", r#"{"text": "x", "more": 1}"#, "more"),
        ("broken", "{}", "broken ended with exit code 7"),
        ("broken", "{}", r"why\nout"),
        ("missing", "{}", "the program ./not-there was not found"),
        ("slow", "{}", "slow timed out after"),
    ] {
        let home = home(&config, &calling(tool, input));
        let ran = home.run_prompt_unattended("go", &["--allowedTools", tool]);
        assert!(ran.code == 0 && ran.out.contains(says), "{tool}: {}{}", ran.out, ran.err);
    }
}

// spec: TOOLS-10
#[test]
fn a_repeatable_program_that_times_out_or_fails_for_now_is_tried_again() {
    for (third, first) in [("exit 0", "sleep 600"), ("exit 0", "exit 75"), ("exit 75", "exit 75")] {
        for (declared, attempts) in [("idempotent = true", 3), ("", 1)] {
            let config = format!(
                "[profiles.default]\nlimits = {{ tool_retry_ms = [1, 1] }}\n\
                 [tools.flaky]\ndescription = \"d\"\nargv = [\"./flaky\"]\ntimeout_ms = 400\n{declared}\n"
            );
            let home = home(&config, &calling("flaky", "{}"));
            let step = format!(
                "echo x >> tries\n[ $(wc -l < tries) -ge 3 ] || {first}\necho out\n{third}"
            );
            program(&home, "flaky", &step);
            let ran = home.run_prompt_unattended("go", &["--allowedTools", "flaky"]);
            let tries = std::fs::read_to_string(home.path("tries")).unwrap().lines().count();
            assert_eq!(tries, attempts, "{first} {declared}: {} {}", ran.out, ran.err);
            let succeeds = attempts == 3 && third == "exit 0";
            assert_eq!(ran.out.contains("got: out"), succeeds, "{first} {declared}: {}", ran.out);
            let counted = home.run(&["stats"]).out;
            let row = counted.lines().find(|line| line.trim_start().starts_with("flaky")).unwrap();
            let attempts = attempts.to_string();
            assert_eq!(row.split_whitespace().nth(2), Some(attempts.as_str()), "{counted}");
        }
    }
}

// spec: TOOLS-10
#[test]
fn a_typo_is_an_error_with_file_and_line() {
    for (config, line, says) in [
        ("[tools.a]\ndescription = \"d\"\nargv = [\"true\"]\nread_onyl = true\n", 4, "read_onyl"),
        ("\n[tools.a]\ndescription = \"d\"\nargv = [\"x\", \"{y}\"]\n", 2, "{y}"),
        ("[tools.Bash]\ndescription = \"d\"\nargv = [\"x\"]\n", 1, "built-in"),
        ("[tools.a]\nargv = [\"x\"]\n", 1, "description"),
    ] {
        let home = home(config, "when any\n  say \"never\"\n");
        let ran = home.run_prompt_unattended("go", &[]);
        assert_eq!(ran.code, 2, "{config}: {}", ran.err);
        let at = format!("config.toml is not valid (line {line}:");
        assert!(ran.err.contains(&at) && ran.err.contains(says), "{config}: {}", ran.err);
    }
}

#[test]
fn rules_and_the_tool_list_know_the_names() {
    let home = home(ECHO, &calling("echo_it", r#"{"text": "x"}"#));
    let ran = home.run_prompt_unattended("go", &["--tools", "Read echo_it"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = home.run_prompt_unattended("go", &["--tools", "Read"]);
    assert!(ran.out.contains("no tool named"), "{}", ran.out);
    let ran = home.run_bare(&["doctor"]);
    assert!(ran.out.contains("tools") && ran.out.contains("echo_it"), "{}", ran.out);
    let ran = home.run_prompt_unattended("go", &["--disallowedTools", "echo_tt"]);
    assert!(ran.code == 2 && ran.err.contains("did you mean `echo_it`"), "{}", ran.err);
}

/// Begins a call of the tool `deploy`, and kills the process while it runs.
fn kill_while_deploying(config: &str) -> TestHome {
    let config = format!(
        "[tools.deploy]\ndescription = \"d\"\nargv = [\"./deploy\", \"{{target}}\"]\n\
         input = {{ target = \"string\" }}\n{config}"
    );
    let home = home(&config, &calling("deploy", r#"{"target": "shop"}"#));
    program(
        &home,
        "deploy",
        "echo \"$1\" >> deployed; echo \"$WINDLASS_CALL\" >> keys; [ -e calm ] || { touch begun; sleep 600; }; echo ok",
    );
    program(&home, "check", "[ -e happened ] && echo \"was done: $1\" && exit 0; exit 1");
    let args = ["-p", "go", "--conversation", "c", "--script", "a.script", "--store", "w.db"];
    let args = [&args[..], &["--allowedTools", "deploy", "--beat-ms", "200", "--lease-ms", "2000"]];
    let mut child = home.command(&args.concat()).stdin(Stdio::null()).spawn().unwrap();
    home.wait_for_file("begun");
    child.kill().unwrap();
    child.wait().unwrap();
    home.write("calm", "");
    home
}

fn deployments(home: &TestHome) -> usize {
    std::fs::read_to_string(home.path("deployed")).unwrap().lines().count()
}

fn resume(home: &TestHome) -> crate::test_home::CommandOutput {
    let args = ["resume", "c", "--script", "a.script", "--allowedTools", "deploy"];
    home.run(&[&args[..], &["--when-asked", "park"]].concat())
}

// spec: TOOLS-10
#[test]
fn a_killed_call_is_not_repeated_but_asked_about() {
    let home = kill_while_deploying("");
    let ran = resume(&home);
    assert_eq!((ran.code, deployments(&home)), (3, 1), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("deploy"), "{}", ran.err);
    let explained = home.run(&["explain", "c"]).out;
    assert!(explained.contains("deploy was running when its process ended"), "{explained}");
}

// spec: TOOLS-10
#[test]
fn the_verify_program_says_whether_a_killed_call_happened() {
    let verify = "verify = [\"./check\", \"{idempotency_key}\"]\n";
    let home = kill_while_deploying(verify);
    home.write("happened", "");
    let ran = resume(&home);
    assert_eq!((ran.code, deployments(&home)), (0, 1), "{}{}", ran.out, ran.err);
    let key = std::fs::read_to_string(home.path("keys")).unwrap();
    assert!(ran.out.contains(&format!("was done: {}", key.trim())), "{}", ran.out);
    let home = kill_while_deploying(verify);
    let ran = resume(&home);
    assert_eq!((ran.code, deployments(&home)), (0, 2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("got: ok"), "{}", ran.out);
    // Each attempt had the same key.
    let keys = std::fs::read_to_string(home.path("keys")).unwrap();
    let keys: Vec<&str> = keys.lines().collect();
    assert!(keys.len() == 2 && keys[0] == keys[1], "{keys:?}");
}

#[test]
fn an_idempotent_call_runs_again_after_a_kill() {
    let home = kill_while_deploying("idempotent = true\n");
    let ran = resume(&home);
    assert_eq!((ran.code, deployments(&home)), (0, 2), "{}{}", ran.out, ran.err);
}

/// A tool of a project: a file and a program beside it.
fn project(home: &TestHome) {
    program(home, ".windlass/tools/greet.sh", "echo \"hello $1\"");
    home.write(
        ".windlass/tools/greet.toml",
        "description = \"Greets\"\nargv = [\"./greet.sh\", \"{name}\"]\ninput = { name = \"string\" }\n\
         read_only = true\n",
    );
}

// spec: TOOLS-10
#[test]
fn tools_of_a_project_exist_while_its_folder_is_trusted() {
    let home = TestHome::new(&calling("greet", r#"{"name": "you"}"#));
    project(&home);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("no tool named") && ran.err.contains("is not trusted"), "{}", ran.err);
    assert!(ran.err.contains("1 command tool"), "{}", ran.err);
    let trusted = home.run_bare(&["trust", "."]);
    assert_eq!(trusted.code, 0, "{}", trusted.err);
    assert!(home.run_prompt_unattended("go", &[]).out.contains("got: hello you"));
    // The program is part of what was trusted.
    program(&home, ".windlass/tools/greet.sh", "echo \"other $1\"");
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("no tool named") && ran.err.contains("changed"), "{}", ran.err);
}

#[test]
fn the_program_beside_a_file_needs_no_argument_list_and_cannot_be_changed_by_tools() {
    let home = TestHome::new(&calling("count", r#"{"n": 3}"#));
    program(&home, "home/tools/count.sh", "cat");
    home.write("home/tools/count.toml", "description = \"Counts\"\ninput = { n = \"integer\" }\n");
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "count"]);
    assert!(ran.out.contains(r#"got: {"n": 3}"#), "{}{}", ran.out, ran.err);
    home.write("home/tools/count.toml", "description = \"Counts\"\ninput = { n = \"int\" }\n");
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.code == 2 && ran.err.contains("count.toml is not valid (line 1"), "{}", ran.err);
    let config = "[tools.mine]\ndescription = \"d\"\nargv = [\"./tools/mine\"]\nread_only = true\n";
    let write = r#"{"file_path": "tools/mine", "content": "x"}"#;
    let home = self::home(config, &calling("Write", write));
    program(&home, "tools/mine", "echo mine");
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "Write"]);
    assert!(ran.out.contains("controls what may run"), "{}{}", ran.out, ran.err);
}

#[test]
fn calls_that_touch_the_same_thing_keep_their_order_and_others_overlap() {
    let config = "[tools.mark]\ndescription = \"d\"\nargv = [\"./mark\", \"{name}\", \"{thing}\"]\n\
                  input = { name = \"string\", thing = \"string\" }\ntouches = [\"thing:{thing}\"]\n";
    let script = "when results 0\n  call mark {\"name\": \"a\", \"thing\": \"x\"}\n  \
                  call mark {\"name\": \"b\", \"thing\": \"y\"}\n  call mark {\"name\": \"c\", \"thing\": \"x\"}\n\
                  when any\n  say \"done\"\n";
    let home = home(config, script);
    // `a` ends only when `b` has begun: they overlap. `c` begins after `a` has ended.
    program(
        &home,
        "mark",
        "echo \"+$1\" >> log; case $1 in a) until grep -q +b log; do sleep 0.02; done;; esac; echo \"-$1\" >> log",
    );
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "mark"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let log = std::fs::read_to_string(home.path("log")).unwrap();
    let at = |what: &str| log.lines().position(|line| line == what).unwrap();
    assert!(at("-a") < at("+c") && at("+b") < at("-a"), "{log}");
}
