//! Untrusted text as an argument: a title, a name, a command that starts with a dash.

use crate::test_home::TestHome;

const ECHO: &str = "when any\n  say \"said: ${user}\"\n";

/// Options that an untrusted title could contain.
fn options() -> [String; 4] {
    let hook = r#"{"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch pwned"}]}]}}"#;
    [
        format!("--settings={hook}"),
        "--allowedTools=Bash".to_owned(),
        "--dangerously-skip-permissions".to_owned(),
        "--workspace=/".to_owned(),
    ]
}

#[test]
fn a_title_that_is_an_option_is_refused_and_behind_two_dashes_it_is_the_prompt() {
    let home = TestHome::new(ECHO);
    for option in options() {
        let ran = home.run_with_stdin(&["-p", &option, "--script", "a.script"], b"a log");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{option}: {}", ran.err);
        assert!(ran.err.contains("`windlass -p -- TEXT`"), "{option}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        let ran = home.run_with_stdin(&["-p", "--script", "a.script", "--", &option], b"a log");
        assert_eq!(ran.out, format!("said: {option}\n\na log\n"), "{option}: {}", ran.err);
    }
    assert!(!home.path("pwned").exists());
    // The option itself is accepted in a position where it cannot be a prompt.
    let ran = home.run_with_stdin(&["--allowedTools=Bash", "--script", "a.script", "-p"], b"a log");
    assert_eq!(ran.out, "said: a log\n", "{}", ran.err);
    let ran = home.run_with_stdin(&["-p", "--script", "a.script"], b"a log");
    assert_eq!(ran.out, "said: a log\n", "{}", ran.err);
}

#[test]
fn a_prompt_may_begin_with_a_dash_or_be_the_name_of_a_command() {
    let home = TestHome::new(ECHO);
    for prompt in ["- fix this", "-x", "--fix=this", "doctor", "worker", "---"] {
        let ran = home.run_prompt_unattended(prompt, &[]);
        assert_eq!(ran.out, format!("said: {prompt}\n"), "{prompt}: {}", ran.err);
    }
    for text in ["- be brief", "--json"] {
        let ran = home.run_prompt_unattended("hello", &["--append-system-prompt", text]);
        assert_eq!(ran.out, "said: hello\n", "{text}: {}", ran.err);
    }
}

#[test]
fn a_command_that_begins_with_a_dash_is_no_option_of_the_shell() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"-c 'touch made'; touch also\", \"run_in_background\": true}\n  \
         call Bash {\"command\": \"--version; touch last\"}\nwhen any\n  say \"done\"\n",
    );
    let hook = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "-c 'touch made'; touch hooked"}]}]}}"#;
    let ran = home.run_prompt_unattended("go", &["--allowedTools", "Bash", "--settings", hook]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(home.path("hooked").exists() && home.path("last").exists(), "{}", ran.err);
    assert!(!home.path("made").exists());
}

#[test]
fn a_name_of_a_conversation_is_one_word_in_the_commands_that_are_shown() {
    let home = TestHome::new("when any\n  call Bash {\"command\": \"touch x\"}\n");
    for name in ["", " ", "-x", "--store=y", "a/b"] {
        let ran = home.run_prompt_unattended("hi", &[&format!("--conversation={name}")]);
        assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{name:?}: {}", ran.err);
    }
    let name = "x'; touch pwned; '";
    let ran = home.run_prompt("hi", &["--conversation", name]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let expected = r"`windlass answer 'x'\''; touch pwned; '\''' 1 ANSWER`";
    assert!(ran.err.contains(expected), "{}", ran.err);
    let ran = home.run(&["explain", name]);
    assert!(ran.out.contains(r"windlass approve 'x'\''; touch pwned; '\'''"), "{}", ran.out);
}
