//! Skills: their summaries, their text on use, what they allow, and who provides them.

use std::os::unix::fs::PermissionsExt;

use crate::recording_server::RecordingServer;
use crate::test_home::TestHome;

const PAGE: &str = "---\nname: brewing\ndescription: how to brew tea\n---\nBoil the water first.\n";

const USES: &str = "when results 0 and tools include Skill\n  call Skill {\"skill\": \"brewing\"}\n\
                    when user contains \"Boil the water first.\"\n  say \"read it\"\n\
                    when error\n  say \"error: ${result}\"\nwhen any\n  say \"no skill\"\n";

fn skill(home: &TestHome, folder: &str, name: &str, page: &str) {
    let folder = home.path(folder).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), page).unwrap();
}

fn home_with_skill(script: &str) -> TestHome {
    let home = TestHome::new(script);
    skill(&home, ".claude/skills", "brewing", PAGE);
    home
}

// spec: WINDOW-21
// spec: TOOLS-04
// spec: TOOLS-06
#[test]
fn the_model_sees_the_summary_and_the_text_only_on_use() {
    let home = home_with_skill(USES);
    let server = RecordingServer::start();
    let request = server.run_prompt(&home, &["--model", "haiku"]).0.body.to_string();
    assert!(request.contains("- brewing: how to brew tea"), "{request}");
    assert!(!request.contains("Boil the water"), "{request}");
    let ran = home.run_prompt_unattended("make tea", &["--conversation", "c"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "read it"), "{}", ran.err);
    let without = TestHome::new(USES);
    assert_eq!(without.run_prompt_unattended("make tea", &[]).out, "no skill\n");
}

// spec: WINDOW-17
#[test]
fn a_skill_in_use_stays_word_for_word_when_the_conversation_is_compacted() {
    let long = "tea leaves ".repeat(400);
    let script = format!(
        "when user is \"go\" and results 0\n  call Skill {{\"skill\": \"brewing\"}}\n\
         when user is \"talk\"\n  say \"{long}\"\nwhen any\n  say \"ok\"\n"
    );
    let home = home_with_skill(&script);
    assert_eq!(home.run_prompt("go", &["--conversation", "c"]).code, 0);
    for _ in 0..8 {
        assert_eq!(home.run_prompt("talk", &["--resume", "c"]).code, 0);
    }
    let asked = home.run(&["-p", "/compact", "--resume", "c"]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    let ran = home.run_prompt("next", &["--set", "kept_messages=4", "--resume", "c"]);
    assert!(ran.err.contains("compacted"), "{}", ran.err);
    let server = RecordingServer::start();
    let request = server.run_prompt(&home, &["--resume", "c", "--model", "haiku"]).0.body;
    let text = request["messages"].to_string();
    let skill = r#"<skill name=\"brewing\">"#;
    assert!(text.contains(skill) && text.contains("Boil the water first."), "{text}");
    assert!(text.matches(&"tea leaves ".repeat(400)).count() < 8, "the rest is summarised");
}

#[test]
fn a_skill_that_does_not_exist_or_is_not_valid_is_told() {
    let home = home_with_skill(&USES.replace("\"brewing\"}", "\"browing\"}"));
    skill(&home, ".claude/skills", "broken", "no front matter");
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("did you mean brewing?"), "{}", ran.out);
    assert!(ran.err.contains("broken/SKILL.md is ignored: "), "{}", ran.err);
    let doctor = home.run_bare(&["doctor"]).out;
    assert!(doctor.contains("brewing") && doctor.contains("broken/SKILL.md"), "{doctor}");
    let denied = home_with_skill(USES);
    let ran = denied.run_prompt_unattended("go", &["--disallowedTools", "Skill(brewing)"]);
    assert_eq!(ran.out, "no skill\n");
}

#[test]
fn a_skill_can_be_typed_with_arguments_and_says_where_its_files_are() {
    let script =
        "when user contains \"skills/brewing.\"\n  say \"${user}\"\nwhen any\n  say \"no\"\n";
    let home = TestHome::new(script);
    let page = "---\ndescription: d\n---\nBrew $1 with ${CLAUDE_SKILL_DIR}/brew.sh.\n";
    skill(&home, ".claude/skills", "brewing", page);
    let ran = home.run_prompt_unattended("/brewing green", &[]);
    let folder = home.path(".claude/skills/brewing").canonicalize().unwrap();
    let expected = format!("Brew green with {}/brew.sh.", folder.display());
    assert!(ran.out.contains(&expected), "{}{}", ran.out, ran.err);
    for (field, typed, offered) in
        [("user-invocable: false", 2, true), ("disable-model-invocation: true", 0, false)]
    {
        let page = format!("---\ndescription: d\n{field}\n---\nBrew.\n");
        skill(&home, ".claude/skills", "brewing", &page);
        assert_eq!(home.run_prompt_unattended("/brewing", &[]).code, typed, "{field}");
        home.write("a.script", "when tools include Skill\n  say \"yes\"\nwhen any\n  say \"no\"\n");
        let offers = home.run_prompt_unattended("go", &[]).out == "yes\n";
        assert_eq!(offers, offered, "{field}");
    }
}

/// Loads a skill and runs a command that it allows.
const ALLOWS: &str = "when results 0 and not user contains \"Brew.\"\n  call Skill {\"skill\": \"brewing\"}\n\
                      when result of Bash\n  say \"got: ${result}\"\n\
                      when any\n  call Bash {\"command\": \".claude/skills/brewing/brew.sh\"}\n";

#[test]
fn allowed_tools_count_once_the_skill_is_loaded_and_its_folder_is_trusted() {
    let page =
        "---\ndescription: d\nallowed-tools: Bash(.claude/skills/brewing/brew.sh)\n---\nBrew.\n";
    let home = TestHome::new(ALLOWS);
    skill(&home, ".claude/skills", "brewing", page);
    let write_script = |text: &str| {
        home.write(".claude/skills/brewing/brew.sh", &format!("#!/bin/sh\n{text}\n"));
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.path(".claude/skills/brewing/brew.sh"), executable).unwrap();
    };
    write_script("echo brewed");
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("requires approval"), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("1 skill rule"), "{}", ran.err);
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("got: brewed"), "{}{}", ran.out, ran.err);
    // Without the skill nothing is allowed.
    let only = "call Bash {\"command\": \".claude/skills/brewing/brew.sh\"}";
    home.write("a.script", &ALLOWS.replace("call Skill {\"skill\": \"brewing\"}", only));
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("requires approval"), "{}{}", ran.out, ran.err);
    // The script is part of what was trusted.
    write_script("echo other");
    home.write("a.script", ALLOWS);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("requires approval") && ran.err.contains("changed"), "{}", ran.err);
}

#[test]
fn the_users_own_skills_have_files_that_can_be_read_and_are_not_hidden_by_a_project() {
    let script = "when results 0\n  call Skill {\"skill\": \"brewing\"}\n\
                  when result of Skill\n  call Read {\"file_path\": \"PATH\"}\n\
                  when any\n  say \"got: ${result}\"\n";
    let home = TestHome::new(USES);
    skill(&home, "user/.claude/skills", "brewing", PAGE);
    home.write("user/.claude/skills/brewing/more.txt", "steep it");
    skill(&home, ".claude/skills", "brewing", "---\ndescription: d\n---\nother text\n");
    let ran = home.run_prompt_unattended("go", &[]);
    assert_eq!(ran.out.trim(), "read it", "{}", ran.err);
    let path = home.path("user/.claude/skills/brewing/more.txt").canonicalize().unwrap();
    home.write("a.script", &script.replace("PATH", path.to_str().unwrap()));
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.out.contains("steep it"), "{}{}", ran.out, ran.err);
}

const FORKED: &str = "when user contains \"Count the words of\"\n  say \"twelve\"\nwhen results 0 and tools include Skill\n  call Skill {\"skill\": \"count\", \"args\": \"a.txt\"}\nwhen any\n  say \"it said: ${result}\"\n";

// spec: TOOLS-12
#[test]
fn a_skill_with_a_context_of_its_own_runs_as_a_sub_agent() {
    let home = TestHome::new(FORKED);
    let page = |head: &str| {
        format!(
            "---\ndescription: Counts words\ncontext: fork\n{head}---\n\nCount the words of $1.\n"
        )
    };
    let write = |head: &str| skill(&home, ".claude/skills", "count", &page(head));
    let run = |more: &[&str]| home.run_prompt_unattended("go", more);
    write("");
    let ran = run(&["--allowedTools", "Skill", "--conversation", "c"]);
    assert_eq!(ran.out, "it said: twelve\n", "{}", ran.err);
    let shown = home.run(&["show", "c"]).out;
    assert!(!shown.contains("Count the words of"), "{shown}");
    assert_eq!(home.query("SELECT id FROM lane WHERE id LIKE 'c/%'").len(), 1);
    let ran = run(&["--disallowedTools", "Agent", "--conversation", "e"]);
    assert!(ran.out.contains("the rule Agent denies it"), "{}{}", ran.out, ran.err);
    let ran = run(&["--settings", r#"{"permissions":{"ask":["Agent"]}}"#]);
    assert!(ran.err.contains("requires approval"), "{}{}", ran.out, ran.err);
    write("agent: counter\n");
    let ran = run(&["--allowedTools", "Skill"]);
    assert!(ran.out.contains("its agent `counter` does not exist"), "{}{}", ran.out, ran.err);
    std::fs::create_dir_all(home.path(".claude/agents")).unwrap();
    home.write(
        ".claude/agents/counter.md",
        "---\nname: counter\ndescription: Counts\n---\nCount.\n",
    );
    let ran = run(&["--allowedTools", "Skill", "--conversation", "d"]);
    assert_eq!(ran.out, "it said: twelve\n", "{}", ran.err);
    skill(&home, ".claude/skills", "count", &page("").replace("fork", "spoon"));
    let ran = run(&[]);
    assert!(ran.err.contains("`context` is `spoon`; write fork"), "{}", ran.err);
}
