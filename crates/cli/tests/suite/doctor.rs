//! `windlass doctor`.

use std::process::Stdio;

use crate::test_home::TestHome;

#[test]
fn a_store_that_is_not_there_is_fine_and_stays_so() {
    let home = TestHome::new("");
    let ran = home.run(&["doctor"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("does not exist yet; the first run creates it"), "{}", ran.out);
    assert!(!home.path("w.db").exists(), "looking makes nothing");
    assert!(ran.out.contains("store: ") && ran.out.contains("config: "), "every path: {}", ran.out);
}

#[test]
fn each_line_says_that_it_is_fine_or_what_to_do() {
    let home = TestHome::new("when any\n  call Bash {\"command\": \"touch x\"}\n");
    home.run_prompt("go", &["--conversation", "c"]);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    for expected in [
        "opened; schema ",
        "no damage found",
        "1 run waiting for you: c; see `windlass explain ID`",
        "no run is interrupted",
        "raw responses 30 days, trace 400 days",
        "1 newest log read to the end",
        "left at ",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    for line in ran.out.lines() {
        assert!(line.starts_with("ok ") || line.starts_with("note "), "{line}");
    }
    let json = &home.json(&["doctor"])[0];
    assert_eq!(json["healthy"], true);
    assert!(json["checks"].as_array().unwrap().len() > 8);
}

#[test]
fn what_is_broken_is_named_and_the_exit_code_is_1() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    home.write("file", "x");
    let ran = home.run_bare(&["doctor", "--store", "file/w.db"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("BROKEN  store") && ran.out.contains("WINDLASS_HOME"), "{}", ran.out);

    home.write("list.db", &"this is my shopping list\n".repeat(400));
    let ran = home.run_bare(&["doctor", "--store", "list.db"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("BROKEN  store") && ran.out.contains("list.db"), "{}", ran.out);

    home.run_prompt("hi", &["--conversation", "c"]);
    home.overwrite_entry(2, "{}");
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("BROKEN  logs       c: entry 2 is malformed"), "{}", ran.out);
    assert_eq!(home.json(&["doctor"])[0]["healthy"], false);
}

#[test]
fn files_that_cannot_be_understood_are_named_with_what_is_wrong() {
    for (file, text, says) in [
        (".claude/settings.json", "{ permissions: }", ".claude/settings.json are not valid"),
        (
            ".claude/settings.local.json",
            r#"{"permissions": 7}"#,
            "settings.local.json: `permissions` must be an object",
        ),
        (
            ".claude/settings.json",
            r#"{"permissions": {"deny": ["Bash(x"]}}"#,
            "closing bracket is missing",
        ),
        ("home/config.toml", "model = [", "config.toml is not valid"),
    ] {
        let place = TestHome::new("");
        for folder in [".claude", "home"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        place.write(file, text);
        let ran = place.run(&["doctor"]);
        assert_eq!(ran.code, 1, "{file}: {}", ran.out);
        let broken: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("BROKEN")).collect();
        assert!(broken.len() == 1 && broken[0].contains(says), "{file}: {broken:?}");
    }
}

#[test]
fn every_path_is_named_and_what_an_untrusted_folder_loses() {
    let home = TestHome::new("when any\n  call Bash {\"command\": \"seq 20000\"}\n");
    std::fs::create_dir(home.path(".claude")).unwrap();
    home.write(".claude/settings.json", r#"{"permissions": {"allow": ["Read"]}}"#);
    home.write("CLAUDE.md", "Be kind.");
    home.run_prompt_unattended("go", &["--allow", "Bash", "--max-turns", "1"]);
    let ran = home.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    for expected in [
        "is not trusted, so only its deny and ask rules apply; `windlass trust` would enable:",
        "/.claude/settings.json",
        "allow: Read",
        "CLAUDE.md",
        "store: ",
        "state: ",
        "trusted folders: ",
        "no orphaned processes",
        "state of tools: ",
    ] {
        assert!(ran.out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }
    assert_eq!(home.run_bare(&["trust", "."]).code, 0);
    assert!(!home.run(&["doctor"]).out.contains("is not trusted"));
    let ran = home.run_bare(&["doctor", "--store", "postgres://u:secret@127.0.0.1:1/x"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("127.0.0.1:1/x is not responding"), "{}", ran.out);
    assert!(!ran.out.contains("secret"), "{}", ran.out);
}

/// Two live workers serve a workspace of the same id from different folders.
#[test]
fn a_workspace_id_that_is_served_from_two_folders_is_reported() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    let mut workers = Vec::new();
    for folder in ["one", "two"] {
        std::fs::create_dir(home.path(folder)).unwrap();
        let named = format!("shop={}", home.path(folder).display());
        let args = ["worker", "--script", "a.script", "--store", "w.db", "--workspace", &named];
        let mut command = home.command(&args);
        workers.push(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        if folder == "one" {
            home.wait_until("the first worker", || home.run(&["doctor"]).out.contains("1 worker"));
            assert_eq!(home.run(&["doctor"]).code, 0, "one folder is fine");
        }
    }
    home.wait_until("an ambiguous workspace", || home.run(&["doctor"]).code == 1);
    let ran = home.run(&["doctor"]);
    let broken: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("BROKEN")).collect();
    assert_eq!(broken.len(), 1, "{}", ran.out);
    for part in ["shop", "/one", "/two"] {
        assert!(broken[0].contains(part), "{part} is missing: {broken:?}");
    }
    workers.pop().map(|mut child| (child.kill(), child.wait())).unwrap().0.unwrap();
    home.wait_until("the end of a worker", || home.run(&["doctor"]).code == 0);
    workers.pop().map(|mut child| (child.kill(), child.wait())).unwrap().0.unwrap();
}

#[test]
fn a_profile_with_which_no_run_can_begin_is_broken_for_doctor_and_run_alike() {
    for (table, named) in [
        ("checklist = { Nope = 1 }", "Nope"),
        ("exempt_tools = [\"Nope\"]", "Nope"),
        ("lookup_tool = \"Nope\"", "Nope"),
        ("ask_tool = \"Nope\"", "Nope"),
        ("limits = { tool_rounds = 0 }", "tool_rounds"),
        ("limits = { tool_round = 3 }", "tool_round"),
        ("times = { soft = 1 }", "soft"),
        ("window = { auto = \"off\" }", "window.auto"),
        ("budget_usd = -1.0", "-1"),
        ("temperature = 9.0", "temperature"),
        ("model = \"no-such-provider:x\"", "no-such-provider"),
        ("summary_model = \"no-such-provider:x\"", "no-such-provider"),
        ("stop_sequences = { \" \" = \"finish\" }", "stop"),
    ] {
        let home = TestHome::new("when any\n  say \"hi\"\n");
        std::fs::create_dir_all(home.path("home")).unwrap();
        home.write("home/config.toml", &format!("[profiles.x]\n{table}\n"));
        // A script needs no model: messages about models are visible without one.
        let script: &[&str] = match table.split(' ').next() {
            Some("model") => &[],
            Some("summary_model") => &["--model", "claude-sonnet-4-5"],
            _ => &["--script", "a.script"],
        };
        let ran = home.run(&[&["-p", "go", "--profile", "x"], script].concat());
        assert!(ran.code != 0 && ran.err.contains(named), "{table}: {} {}", ran.code, ran.err);
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 1, "{table}: {}", doctor.out);
        let line = doctor.out.lines().find(|line| line.contains("the profile x")).unwrap_or("");
        assert!(line.contains("BROKEN") && line.contains(named), "{table}: {}", doctor.out);
    }
    let home = TestHome::new("when any\n  say \"hi\"\n");
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", "[profiles.x]\nask_tool = \"ask_human\"\n");
    assert!(!home.run(&["doctor"]).out.contains("the profile"));
}
