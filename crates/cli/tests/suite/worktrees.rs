//! Sub-agents that work in a git worktree of their own.

use std::path::PathBuf;

use crate::test_home::{CommandOutput, TestHome};

const AGENT: &str = "---\nname: mason\ndescription: Builds\nisolation: worktree\n---\nYou build.\n";

const SCRIPT: &str = r#"
when user is "build" and results 0
  call Agent {"description": "d", "prompt": "inner", "subagent_type": "mason"}

when user is "look" and results 0
  call Agent {"description": "d", "prompt": "only look", "subagent_type": "mason"}

when user is "hide" and results 0
  call Agent {"description": "d", "prompt": "read the secret", "subagent_type": "mason"}

when user is "hang" and results 0
  call Agent {"description": "d", "prompt": "wait inside", "subagent_type": "mason"}

when user is "escape" and results 0
  call Agent {"description": "d", "prompt": "leave", "subagent_type": "mason"}

when user contains "inner" and results 0
  call Read {"file_path": "wall.txt"}

when user contains "inner" and results 1
  call Edit {"file_path": "wall.txt", "old_string": "stone", "new_string": "brick"}
  call Bash {"command": "pwd > where.txt; mkdir -p deep && cd deep && echo made > new.txt"}

when user contains "only look" and results 0
  call Bash {"command": "cat wall.txt"}

when user contains "read the secret" and results 0
  call Read {"file_path": "secret/key.txt"}
  call Bash {"command": "cat secret/key.txt"}

when user contains "wait inside" and results 0
  call Bash {"command": "echo half > half.txt; touch begun; while [ ! -e /nothing ]; do sleep 0.05; done"}

when user contains "leave" and results 0
  call Write {"file_path": "THE-WORKSPACE/escaped.txt", "content": "x"}

when any
  say "done: ${result}"
"#;

fn git(home: &TestHome, arguments: &[&str]) -> String {
    let mut git = home.program("git");
    git.args(["-c", "user.name=t", "-c", "user.email=t@localhost"]);
    let ran = git.args(arguments).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

/// A trusted repository with one commit and the agent.
fn repository() -> TestHome {
    let home = TestHome::new(SCRIPT);
    std::fs::create_dir_all(home.path(".claude/agents")).unwrap();
    home.write(".claude/agents/mason.md", AGENT);
    std::fs::create_dir_all(home.path("secret")).unwrap();
    home.write("secret/key.txt", "k-123\n");
    home.write("wall.txt", "stone\n");
    git(&home, &["init", "--quiet", "-b", "main"]);
    git(&home, &["add", "wall.txt", "secret"]);
    git(&home, &["commit", "--quiet", "-m", "first"]);
    let trusted = home.run_bare(&["trust", "."]);
    assert_eq!(trusted.code, 0, "{}{}", trusted.out, trusted.err);
    home
}

fn branches(home: &TestHome) -> Vec<String> {
    let listed = git(home, &["for-each-ref", "--format=%(refname:short)", "refs/heads/windlass"]);
    listed.lines().map(str::to_owned).collect()
}

fn worktrees(home: &TestHome) -> usize {
    git(home, &["worktree", "list"]).lines().count() - 1
}

fn run(home: &TestHome, prompt: &str) -> CommandOutput {
    home.run_prompt_unattended(prompt, &["--allowedTools", "Agent Bash Read Edit Write"])
}

// spec: CHILDREN-09
#[test]
fn changes_are_on_a_branch_and_the_workspace_stays_as_it_is() {
    let home = repository();
    let ran = run(&home, "build");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let [branch] = &branches(&home)[..] else { panic!("{}{}", ran.out, ran.err) };
    assert!(ran.out.contains(&format!("the branch {branch}")), "{}", ran.out);
    assert_eq!(std::fs::read_to_string(home.path("wall.txt")).unwrap(), "stone\n");
    assert!(!home.path("deep").exists() && !home.path("where.txt").exists());
    assert_eq!(git(&home, &["show", &format!("{branch}:wall.txt")]), "brick");
    assert_eq!(git(&home, &["show", &format!("{branch}:deep/new.txt")]), "made");
    let folder = PathBuf::from(git(&home, &["show", &format!("{branch}:where.txt")]));
    home.wait_until("the end of the worktree", || worktrees(&home) == 0 && !folder.exists());
    git(&home, &["merge", "--quiet", branch]);
    assert_eq!(std::fs::read_to_string(home.path("wall.txt")).unwrap(), "brick\n");
    // A second sub-agent has a branch of its own, which begins where the first one ended.
    let ran = run(&home, "look");
    assert!(ran.out.contains("brick"), "{}{}", ran.out, ran.err);
}

// spec: CHILDREN-09
#[test]
fn without_changes_nothing_is_left() {
    let home = repository();
    for _ in 0..2 {
        let ran = run(&home, "look");
        assert!(ran.out.contains("done: "), "{}{}", ran.out, ran.err);
        home.wait_until("the end of the worktree", || worktrees(&home) == 0);
        assert_eq!(branches(&home), Vec::<String>::new());
    }
}

// spec: CHILDREN-09
#[test]
fn rules_about_paths_apply_in_the_worktree_and_it_is_not_left() {
    let home = repository();
    let rules =
        ["--allowedTools", "Agent Bash Read Edit Write", "--disallowedTools", "Read(secret/**)"];
    let ran = home.run_prompt_unattended("hide", &[&rules[..], &["--conversation", "c"]].concat());
    assert!(!ran.out.contains("k-123"), "{}{}", ran.out, ran.err);
    let logs = home.run(&["show", "c"]);
    assert!(!logs.out.contains("k-123"), "{}", logs.out);
    let script =
        SCRIPT.replace("THE-WORKSPACE", home.path(".").canonicalize().unwrap().to_str().unwrap());
    home.write("a.script", &script);
    let rules = ["--allowedTools", "Agent", "--permission-mode", "acceptEdits"];
    let ran = home.run_prompt_unattended("escape", &rules);
    assert!(ran.out.contains("requires approval"), "{}{}", ran.out, ran.err);
    assert!(!home.path("escaped.txt").exists());
}

// spec: CHILDREN-09
#[test]
fn a_worktree_that_cannot_be_made_keeps_the_sub_agent_from_starting() {
    let home = TestHome::new(SCRIPT);
    std::fs::create_dir_all(home.path(".claude/agents")).unwrap();
    home.write(".claude/agents/mason.md", AGENT);
    home.write("wall.txt", "stone\n");
    let ran = run(&home, "build");
    assert!(ran.out.contains("windlass trust"), "{}{}", ran.out, ran.err);
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let ran = run(&home, "build");
    assert!(ran.out.contains("needs a git repository with a commit"), "{}{}", ran.out, ran.err);
    assert_eq!(std::fs::read_to_string(home.path("wall.txt")).unwrap(), "stone\n");
    home.write(".claude/agents/mason.md", &AGENT.replace("worktree", "container"));
    let listed = home.run_bare(&["agents"]);
    assert_eq!(listed.code, 1, "{}", listed.out);
    assert!(
        format!("{}{}", listed.out, listed.err)
            .contains("`isolation` is `container`; write worktree"),
        "{}{}",
        listed.out,
        listed.err
    );
}

// spec: HOOKS-18
#[test]
fn hooks_are_told_of_worktrees_and_can_object_to_one() {
    let home = repository();
    let keep = "cat | tr -d '\\n' >> heard; echo >> heard";
    let hooks = |create: &str| {
        let one = |command: &str| serde_json::json!([{"hooks": [{"type": "command", "command": command}]}]);
        serde_json::json!({"hooks": {"WorktreeCreate": one(create), "WorktreeRemove": one(keep)}})
            .to_string()
    };
    let run = |settings: &str| {
        let more = ["--allowedTools", "Agent Bash", "--settings", settings];
        home.run_prompt_unattended("look", &more)
    };
    let ran = run(&hooks(keep));
    assert!(ran.out.contains("stone"), "{}{}", ran.out, ran.err);
    home.wait_until("both events", || {
        std::fs::read_to_string(home.path("heard")).is_ok_and(|text| text.lines().count() == 2)
    });
    let text = std::fs::read_to_string(home.path("heard")).unwrap();
    let heard: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(heard[0]["hook_event_name"], "WorktreeCreate");
    assert_eq!(heard[0]["name"], heard[0]["agent_id"]);
    assert_eq!(heard[1]["hook_event_name"], "WorktreeRemove");
    assert_eq!(heard[0]["worktree_path"], heard[1]["worktree_path"]);
    let ran = run(&hooks("echo 'disk is full' >&2; exit 2"));
    assert!(ran.out.contains("disk is full"), "{}{}", ran.out, ran.err);
    home.wait_until("the end of the worktree", || worktrees(&home) == 0);
}
