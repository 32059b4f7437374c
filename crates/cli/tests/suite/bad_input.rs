//! Bad input gets one clear sentence and the right exit code, and nothing is lost.

use std::os::unix::fs::PermissionsExt;

use crate::test_home::{CommandOutput, TestHome};

const HELLO: &str = "when any\n  say \"hello\"\n";

fn one_sentence(ran: &CommandOutput, expected: &str) {
    assert!(matches!(ran.code, 1 | 2), "{}: {}", ran.code, ran.err);
    assert!(ran.out.is_empty(), "nothing on standard output: {}", ran.out);
    assert!(ran.err.contains(expected), "{:?} should say {expected:?}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    assert!(ran.err.lines().count() <= 2, "one sentence: {}", ran.err);
}

#[test]
fn an_empty_prompt_says_what_to_do() {
    one_sentence(&TestHome::new(HELLO).run_prompt("  ", &[]), "the prompt is empty");
}

#[test]
fn no_model_says_what_to_do() {
    one_sentence(&TestHome::new(HELLO).run(&["-p", "hi"]), "--script FILE");
}

#[test]
fn a_missing_script_is_named() {
    one_sentence(&TestHome::new(HELLO).run(&["-p", "hi", "--script", "no.script"]), "no.script");
}

#[test]
fn a_script_without_an_end_is_refused() {
    let ran = TestHome::new("").run_bare(&["-p", "hi", "--script", "/dev/zero"]);
    one_sentence(&ran, "the script /dev/zero is larger than 4 MiB; use a smaller file");
}

#[test]
fn a_script_that_does_not_parse_names_the_line() {
    one_sentence(&TestHome::new("when any\n  shout \"hello\"\n").run_prompt("hi", &[]), "line 2");
}

#[test]
fn a_missing_workspace_is_named() {
    one_sentence(&TestHome::new(HELLO).run_prompt("hi", &["--workspace", "nowhere"]), "nowhere");
}

#[test]
fn a_folder_to_add_that_is_missing_or_none_is_named() {
    let home = TestHome::new(HELLO);
    one_sentence(&home.run_prompt("hi", &["--add-dir", "gone"]), "gone");
    home.write("file", "x");
    one_sentence(&home.run_prompt("hi", &["--add-dir", "file"]), "is not a folder");
}

const FED: &[&str] = &["-p", "-", "--script", "a.script", "--store", "w.db", "--conversation", "c"];

#[test]
fn a_prompt_of_ten_megabytes_is_taken_whole_and_kept() {
    let home = TestHome::new("when any\n  say \"read\"\n");
    let prompt = "0123456789".repeat(1 << 20);
    let ran =
        home.run_with_stdin(&[FED, &["--window-tokens", "8000000"]].concat(), prompt.as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (0, "read\n"), "{}", ran.err);
    let messages = home.json(&["show", "c"]);
    assert_eq!(messages[0]["text"].as_str().unwrap().len(), prompt.len());
}

#[test]
fn a_prompt_that_no_window_holds_ends_the_run_in_words() {
    let home = TestHome::new("when any\n  say \"read\"\n");
    let ran = home.run_with_stdin(FED, "0123456789".repeat(1 << 20).as_bytes());
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("the context window is full"), "{}", ran.err);
}

#[test]
fn a_prompt_beyond_all_bounds_is_refused_before_anything_is_stored() {
    let home = TestHome::new(HELLO);
    let ran = home.run_with_stdin(FED, &vec![b'x'; 17 << 20]);
    one_sentence(&ran, "larger than 16 MiB; put it into a file");
    assert!(!home.path("w.db").exists());
}

#[test]
fn standard_input_that_is_no_text_is_one_sentence() {
    one_sentence(
        &TestHome::new(HELLO).run_with_stdin(FED, b"abc\xff\xfe"),
        "not valid UTF-8 (at byte 4); convert it",
    );
}

#[test]
fn a_home_that_cannot_be_written_is_named_and_another_place_works() {
    let home = TestHome::new(HELLO);
    home.write("home", "not a folder");
    let bare = ["-p", "hi", "--script", "a.script"];
    one_sentence(&home.run_bare(&bare), "choose another with --store");
    let ran = home.run_prompt("hi", &[]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "hello\n"), "{}", ran.err);
}

#[test]
fn unknown_flags_are_refused_with_exit_code_2() {
    let ran = TestHome::new(HELLO).run_bare(&["--frobnicate"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--frobnicate"));
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
}

#[test]
fn arguments_that_are_not_understood_give_exit_code_2() {
    let home = TestHome::new(HELLO);
    for (args, expected) in [
        (&["rnus"][..], "did you mean `windlass runs`?"),
        (&["--store", "w.db", "runs"], "the command comes first and its options after it"),
        (&["-p", "fix", "y"], "quote a prompt that has several words"),
        (&["-p", "hi", "--permission-mode", "foo"], "acceptEdits"),
        (&["-p", "hi", "--profile", "nope"], "unknown profile `nope`"),
        (&["-p", "hi", "--set", "foo=1"], "unknown limit foo"),
        (&["-p", "hi", "--set", "kept_messages=-1"], "`-1` is not a valid value for kept_messages"),
        (&["-p", "hi", "--set", "tool_retry_ms=1"], "`1` is not a valid value for tool_retry_ms"),
        (&["-p", "hi", "--set", "tool_retry_ms=1,2"], "or a list such as [500, 2000]"),
        (&["-p", "hi", "--set", "foo"], "is not NAME=VALUE"),
        (&["-p", "hi", "--session-id", "abc"], "not a UUID"),
        (&["-p", "hi", "--tools", "Nope"], "unknown tool Nope"),
        (&["-p", "hi", "--max-turns", "0"], "--max-turns"),
        (&["-p", "hi", "--max-budget-usd", "0"], "above 0"),
        (&["-p", "hi", "--max-budget-usd", "-1"], "above 0"),
        (&["-p", "hi", "--max-budget-usd", "nan"], "above 0"),
        (&["-p", "hi", "--store", "mysql://foo"], "unknown kind of store, `mysql:`"),
        (&["-p", "hi", "--store", "postgress://127.0.0.1:1/db"], "postgres://USER@HOST/DATABASE"),
        (&["runs", "--store", "sqlite:w.db"], "unknown kind of store, `sqlite:`"),
    ] {
        let script: &[&str] = if args[0] == "-p" { &["--script", "a.script"] } else { &[] };
        let ran = home.run_bare(&[args, script].concat());
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    let names = std::fs::read_dir(home.path("")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.script"], "nothing is made");
}

#[test]
fn looking_at_a_store_does_not_make_it() {
    let place = TestHome::new(HELLO);
    for args in [
        &["runs"][..],
        &["stats"],
        &["logs"],
        &["show"],
        &["explain", "x"],
        &["trace"],
        &["replay"],
        &["resume"],
        &["cancel", "x"],
        &["approve"],
        &["answer", "x", "1", "allow"],
        &["fork"],
        &["compact"],
        &["-p", "hi", "--resume", "x"],
    ] {
        for ran in [place.run(args), place.run_bare(args)] {
            assert!((ran.out + &ran.err).contains("no run"), "{args:?}");
        }
    }
    let output = place.run(&["runs"]).out;
    assert!(output.contains("there is no store at") && output.contains("w.db"), "{output}");
    for name in ["w.db", "home", "user"] {
        assert!(!place.path(name).exists(), "{name} was made");
    }
}

#[test]
fn help_says_which_values_there_are_and_what_is_usual() {
    let help = TestHome::new(HELLO).run_bare(&["--help"]).out;
    for expected in ["acceptEdits", "plan:none", "[default: 50]", "20", "[default: text]"] {
        assert!(help.contains(expected), "{expected} is missing");
    }
}

#[test]
fn windlass_alone_says_how_to_begin() {
    let ran = TestHome::new(HELLO).run_bare(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    for command in ["windlass demo", "windlass doctor", "windlass -p", "windlass --help"] {
        assert!(ran.err.contains(command), "{command}: {}", ran.err);
    }
    assert!(ran.err.lines().count() < 12 && ran.err.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn output_that_cannot_be_written_is_told_and_the_run_goes_on_later() {
    for (format, says) in
        [("text", "cannot write the output (No space"), ("json", "cannot write the result")]
    {
        let home = TestHome::new(HELLO);
        let args = ["-p", "hi", "--script", "a.script", "--store", "w.db", "--conversation", "c"];
        let mut command = home.command(&[&args[..], &["--output-format", format]].concat());
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let command = command.stdin(std::process::Stdio::null()).stdout(full);
        one_sentence(&CommandOutput::from(command.output().unwrap()), says);
        let shown = home.run(&["show", "c"]);
        assert!(shown.out.contains("hi"), "{}", shown.err);
    }
}

#[test]
fn a_configuration_with_a_mistake_names_its_line() {
    let home = TestHome::new(HELLO);
    std::fs::create_dir(home.path("home")).unwrap();
    home.write("home/config.toml", "model = \"a\"\nmodle = \"b\"\n");
    let ran = home.run_prompt("hi", &[]);
    one_sentence(&ran, "config.toml is not valid (line 2: unknown field `modle`");
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    // `doctor` reports the error and all other checks.
    let ran = home.run_bare(&["doctor"]);
    assert_eq!(ran.code, 1);
    let broken: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("BROKEN")).collect();
    assert!(broken.len() == 1 && broken[0].contains("config.toml"), "{}", ran.out);
    assert!(ran.out.contains("processes"), "{}", ran.out);
}

#[test]
fn looking_back_on_nothing_says_how_to_begin() {
    let home = TestHome::new(HELLO);
    for command in ["runs", "stats", "logs"] {
        let ran = home.run(&[command]);
        assert_eq!(ran.code, 0);
        assert!((ran.out + &ran.err).contains("no runs yet"), "{command}");
        let ran = home.run_bare(&[command]);
        assert_eq!(ran.code, 0);
        assert!((ran.out + &ran.err).contains("no runs yet"), "{command}");
    }
}

#[test]
fn a_store_that_is_no_database_is_left_as_it_is() {
    let home = TestHome::new(HELLO);
    let text = "this is my shopping list, not a database\n".repeat(200);
    home.write("w.db", &text);
    let ran = home.run_prompt("hi", &[]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("w.db is not a Windlass store; choose another file"), "{}", ran.err);
    assert!(!ran.err.contains("restore"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(home.path("w.db")).unwrap(), text);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let home = TestHome::new(HELLO);
    home.write("file", "x");
    let ran = home.run_bare(&["-p", "hi", "--script", "a.script", "--store", "file/w.db"]);
    one_sentence(&ran, "file");
}

#[test]
fn the_store_is_for_its_owner_only() {
    let home = TestHome::new(HELLO);
    assert_eq!(home.run_prompt("hi", &[]).code, 0);
    let mode = std::fs::metadata(home.path("w.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_unknown_conversation_is_named() {
    let home = TestHome::new(HELLO);
    assert_eq!(home.run_prompt("hi", &[]).code, 0);
    one_sentence(&home.run(&["replay", "nobody"]), "nobody");
    one_sentence(&home.run(&["cancel", "nobody"]), "nobody");
    one_sentence(&home.run(&["resume", "nobody", "--script", "a.script"]), "nobody");
}

#[test]
fn tools_that_fail_are_told_to_the_model_and_not_to_the_user() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"no.txt\"}\n  call Nope {}\n  call Read [1]\n\
         when error of Read contains \"file_not_found\" and error of Nope contains \"unknown_tool\"\n  say \"noted\"\n",
    );
    let ran = home.run_prompt("go", &["--allow", "*"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "noted\n"), "{}", ran.err);
}

// spec: WINDOW-08
#[test]
fn numbers_that_cannot_be_are_told_before_anything_is_stored() {
    let place = TestHome::new(HELLO);
    std::fs::create_dir(place.path("home")).unwrap();
    let profiles = "[profiles.late]\nwindow = { thresholds = { compact = 99 } }\n\
                    [profiles.odd]\nwindow = { squeeze = \"on\" }\n\
                    [profiles.off]\nwindow = { auto = \"off\" }\n\
                    [profiles.typo]\nchecklist = { Wrte = 1 }\n\
                    [profiles.loops]\nlimits = { loop_identical_calls = 99 }\n\
                    [profiles.never]\ntimes = { hard_ms = 1 }\n\
                    [profiles.forever]\nlimits = { recoveries = 0 }\n";
    place.write("home/config.toml", profiles);
    let said = [
        (["--profile", "late"], "< block (98 %)"),
        (["--profile", "odd"], "unknown window setting squeeze"),
        (["--profile", "off"], "a profile cannot change window.auto"),
        (["--profile", "typo"], "the checklist names the unknown tool Wrte"),
        (["--profile", "loops"], "loop_identical_calls is 99; it must be between 2 and 6"),
        (["--set", "durability=often"], "use scheduled or strict"),
        (["--profile", "never"], "must be smaller than hard_ms"),
        (["--profile", "forever"], "recoveries is 0; it must be between 1 and 100"),
        (["--window-tokens", "0"], "window_tokens of the model scripted is 0"),
        (["--set", "tool_retry_ms=[]"], "tool_retry_ms has 0 entries"),
    ];
    for (flags, expected) in said {
        one_sentence(&place.run_prompt("hi", &flags), expected);
    }
    assert!(!place.path("w.db").exists(), "nothing is stored");
    place.write("home/config.toml", "[models.m.prices]\ninput = -5\n");
    let ran = place.run_prompt("hi", &[]);
    assert!(ran.code == 2 && ran.err.contains("; fix it"), "{}", ran.err);
}

/// A changed file mode is reported, and only once.
#[test]
fn a_store_that_is_made_private_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new("when any\n  say \"Done.\"\n");
    assert_eq!(home.run_prompt_unattended("go", &[]).code, 0);
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(home.path("w.db"), open).unwrap();
    let ran = home.run_prompt_unattended("go", &[]);
    let expected = "w.db was accessible to other users (mode 0644); it is private now (mode 0600)";
    assert!(ran.code == 0 && ran.err.contains(expected), "{}", ran.err);
    let ran = home.run_prompt_unattended("go", &[]);
    assert!(ran.code == 0 && !ran.err.contains("private"), "{}", ran.err);
}

/// If the state folder cannot be written, a run with another store works, and reports what is lost.
#[test]
fn a_state_folder_that_cannot_be_written_keeps_no_file_from_being_edited() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"f.txt\"}\nwhen result of Read\n  call Edit \
         {\"file_path\": \"f.txt\", \"old_string\": \"hello\", \"new_string\": \"bye\"}\n\
         when any\n  say \"Done.\"\n",
    );
    home.write("f.txt", "hello\n");
    home.write("file", "");
    let state = home.path("file");
    let nowhere = [("WINDLASS_HOME", ""), ("XDG_STATE_HOME", state.to_str().unwrap())];
    let edit = ["-p", "go", "--script", "a.script", "--permission-mode", "acceptEdits"];
    let ran = home.run_with_env(&[&edit[..], &["--store", "w.db"]].concat(), &nowhere);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Done.\n"), "{}", ran.err);
    assert!(ran.err.contains("so the state of tools"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(home.path("f.txt")).unwrap(), "bye\n");
    // The default store is in the state folder, and nothing works without it.
    let ran = home.run_with_env(&edit, &nowhere);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("choose another with --store"), "{}", ran.err);
}

#[test]
fn a_bad_value_points_to_the_help_of_its_command() {
    let home = TestHome::new("");
    for (typed, help) in [
        (&["runs", "--since", "x"][..], "windlass runs --help"),
        (&["runs", "--limit", "x"], "windlass runs --help"),
        (&["stats", "--days", "x"], "windlass stats --help"),
        (&["worker", "--grace-seconds", "x"], "windlass worker --help"),
        (&["worker", "--resume", "x"], "windlass worker --help"),
        (&["resume", "c", "--max-turns", "x"], "windlass resume --help"),
        (&["answer", "c", "x", "allow"], "windlass answer --help"),
        (&["scripted", "--script", "a", "--port", "x"], "windlass scripted --help"),
        (&["fork", "c", "--at", "x"], "windlass fork --help"),
        (&["completions", "x"], "windlass completions --help"),
        (&["-p", "runs", "--max-turns", "x"], "windlass --help"),
    ] {
        let ran = home.run_bare(typed);
        assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{typed:?}: {}", ran.err);
        assert!(ran.err.ends_with(&format!("; see `{help}`\n")), "{typed:?}: {}", ran.err);
    }
}
