//! `--sandbox`: what commands and hooks of the real binary can do.

use serde_json::json;

use crate::test_home::{CommandOutput, TestHome};

/// Runs a shell command as the call of a model, allowed and in the sandbox.
fn run_sandboxed(home: &TestHome, command: &str, more: &[&str]) -> CommandOutput {
    let call = json!({ "command": command });
    let script = format!(
        "when user is \"go\" and results 0\n  call Bash {call}\nwhen any\n  say \"${{result}}\"\n"
    );
    home.write("a.script", &script);
    let flags = ["--allowedTools", "Bash", "--sandbox", "workspace-write"];
    home.run_prompt_unattended("go", &[&flags, more].concat())
}

/// Runs a script file: what it does is not seen by the permissions.
fn run_script(home: &TestHome, script: &str) -> CommandOutput {
    home.write("attack.sh", script);
    run_sandboxed(home, "sh attack.sh", &[])
}

/// A home folder whose workspace is a repository.
fn repository() -> TestHome {
    let home = TestHome::new("");
    std::fs::create_dir_all(home.path(".git/hooks")).unwrap();
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    home.write(".git/config", "[core]\n");
    home
}

#[test]
fn a_command_writes_in_the_workspace_and_nowhere_else() {
    let home = repository();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = outside.path().join("made");
    let ended = run_sandboxed(&home, "echo text > inside && cat inside && cd /", &[]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("text"), "{}", ended.out);
    let ended = run_script(&home, &format!("echo text > {}", target.display()));
    assert!(ended.out.contains("Read-only file system"), "{} {}", ended.out, ended.err);
    assert!(!target.exists());
    for protected in [".git/hooks/pre-commit", ".git/config", ".claude/settings.json", ".mcp.json"]
    {
        // Spelled so that the permissions, which read the script too, do not see the name.
        let hidden = protected.replace('/', "/@").replace('.', "@.@");
        let script = format!(
            "P=$(echo '{hidden}' | tr -d @); mkdir -p \"$(dirname \"$P\")\"; echo x > \"$P\""
        );
        let ended = run_script(&home, &script);
        assert!(ended.out.contains("exit code"), "{protected}: {}", ended.out);
    }
    assert!(!home.path(".claude").exists() && !home.path(".mcp.json").exists());
    assert_eq!(std::fs::read_to_string(home.path(".git/config")).unwrap(), "[core]\n");
}

#[test]
fn a_change_of_the_folder_is_kept() {
    let home = repository();
    std::fs::create_dir(home.path("src")).unwrap();
    home.write(
        "a.script",
        "when user is \"go\" and results 0\n  call Bash {\"command\": \"cd src\"}\n\
         when user is \"go\" and results 1\n  call Bash {\"command\": \"pwd\"}\n\
         when any\n  say \"${result}\"\n",
    );
    let flags = ["--allowedTools", "Bash", "--sandbox", "workspace-write"];
    let ended = home.run_prompt_unattended("go", &flags);
    assert!(ended.out.trim_end().ends_with("/src"), "{} {}", ended.out, ended.err);
}

#[test]
fn keys_and_state_are_not_read() {
    let home = repository();
    std::fs::create_dir_all(home.path("home/.ssh")).unwrap();
    home.write("home/.ssh/id_ed25519", "the-private-key\n");
    let folder = home.path("home");
    let read = format!("cat {0}/.ssh/id_ed25519; ls -A {0}/.ssh", folder.display());
    home.write(
        "a.script",
        &format!(
            "when user is \"go\" and results 0\n  call Bash {}\nwhen any\n  say \"${{result}}\"\n",
            json!({ "command": read })
        ),
    );
    let store = home.path("w.db");
    let args = [
        "-p",
        "go",
        "--script",
        "a.script",
        "--allowedTools",
        "Bash",
        "--sandbox",
        "workspace-write",
        "--store",
        store.to_str().unwrap(),
    ];
    let ended = home.run_with_env(&args, &[("HOME", folder.to_str().unwrap())]);
    assert!(
        !ended.out.contains("the-private-key") && !ended.out.contains("id_ed25519\n"),
        "{}",
        ended.out
    );
    let without = home.run_with_env(
        &[&args[..6], &["--sandbox", "off", "--store", store.to_str().unwrap()]].concat(),
        &[("HOME", folder.to_str().unwrap())],
    );
    assert!(
        without.out.contains("the-private-key"),
        "the control: {} {}",
        without.out,
        without.err
    );
}

#[test]
fn the_key_of_the_provider_is_out_of_reach() {
    let home = repository();
    home.write(
        "attack.sh",
        "cat /proc/$PPID/environ /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -c SECRET_VALUE\n\
         grep -hc SECRET_VALUE /proc/$PPID/mem /proc/1/mem\ntrue\n",
    );
    home.write(
        "a.script",
        "when user is \"go\" and results 0\n  call Bash {\"command\": \"sh attack.sh\"}\nwhen any\n  say \"${result}\"\n",
    );
    let store = home.path("w.db");
    let args = [
        "-p",
        "go",
        "--script",
        "a.script",
        "--allowedTools",
        "Bash",
        "--sandbox",
        "workspace-write",
        "--store",
        store.to_str().unwrap(),
    ];
    let ended = home.run_with_env(&args, &[("ANTHROPIC_API_KEY", "SECRET_VALUE")]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    let counts: Vec<u32> = ended.out.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(!counts.is_empty() && counts.iter().all(|count| *count == 0), "{}", ended.out);
}

#[test]
fn a_hook_is_confined_too() {
    let home = repository();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let target = outside.path().join("by-a-hook");
    let command = format!("echo x > seen; echo x > {}", target.display());
    let hook = json!({"type": "command", "command": command});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string();
    let ended = run_sandboxed(&home, "true", &["--settings", &settings]);
    assert!(home.path("seen").exists(), "{}", ended.err);
    assert!(!target.exists());
}

#[test]
fn a_background_command_is_confined_and_ends_with_its_conversation() {
    let home = repository();
    home.write(
        "a.script",
        "when user is \"go\" and results 0\n  call Bash {\"command\": \"touch began; touch /etc/windlass-no; sleep 60\", \"run_in_background\": true}\n\
         when user is \"go\" and results 1\n  call Bash {\"command\": \"while ! [ -e began ]; do sleep 0.05; done\"}\n\
         when any\n  say \"done\"\n",
    );
    let flags = ["--allowedTools", "Bash", "--sandbox", "workspace-write"];
    let ended = home.run_prompt_unattended("go", &flags);
    assert_eq!((ended.code, ended.out.as_str()), (0, "done\n"), "{}", ended.err);
    assert!(home.path("began").exists() && !std::path::Path::new("/etc/windlass-no").exists());
}

#[test]
fn the_read_only_level_lets_nothing_be_written() {
    let home = repository();
    let call = json!({ "command": "cat .git/HEAD; echo x > new" });
    home.write("a.script", &format!("when user is \"go\" and results 0\n  call Bash {call}\nwhen any\n  say \"${{result}}\"\n"));
    let ended =
        home.run_prompt_unattended("go", &["--allowedTools", "Bash", "--sandbox", "read-only"]);
    assert!(
        ended.out.contains("refs/heads/main") && !home.path("new").exists(),
        "{} {}",
        ended.out,
        ended.err
    );
}

#[test]
fn explain_shows_the_policy_and_where_the_level_comes_from() {
    let home = repository();
    let shown =
        home.run_bare(&["sandbox", "explain", "--sandbox", "workspace-write", "--", "npm", "test"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    for line in [
        "Command: npm test",
        "Needs approval: no rule allows it",
        "Level: workspace-write (from --sandbox)",
        "Confined by: ",
        "Network: none",
        "/.git/hooks",
    ] {
        assert!(shown.out.contains(line), "{line}: {}", shown.out);
    }
    let settings = json!({"sandbox": {"enabled": true}}).to_string();
    let shown = home.run_bare(&["sandbox", "explain", "--settings", &settings]);
    assert!(
        shown.out.contains("(from `sandbox.enabled` of a settings file)"),
        "{} {}",
        shown.out,
        shown.err
    );
    let shown = home.run_bare(&["sandbox", "explain"]);
    assert!(shown.out.contains("Level: workspace-write (from the default)"), "{}", shown.out);
    let doctor = home.run(&["doctor"]);
    assert!(
        doctor.out.contains("sandbox")
            && doctor.out.contains("level workspace-write (from the default)"),
        "{}",
        doctor.out
    );
}

#[test]
fn a_wrong_level_is_an_error() {
    let home = repository();
    let ended = home.run_prompt_unattended("go", &["--sandbox", "workspace"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("workspace-write"), "{}", ended.err);
}
