//! `windlass trace`.

use crate::test_home::TestHome;

#[test]
fn the_whole_column_is_there_and_its_last_row_says_why_it_ended() {
    let home = TestHome::new("when any\n  call Read {\"file_path\": \"a.txt\"}\n");
    home.write("a.txt", "x");
    home.run_prompt("loop", &["--max-turns", "3", "--conversation", "c"]);
    let ran = home.run(&["trace", "c"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let rows: Vec<&str> = ran.out.lines().skip(2).collect();
    assert_eq!(rows.len(), 5, "{}", ran.out);
    assert!(rows[0].contains("prompt") && rows[0].contains("Read") && rows[0].contains("ms ok"));
    assert!(rows[0].ends_with("tool_use") && rows[3].ends_with("max_iters"), "{}", ran.out);
    assert!(rows[4].contains("the limit of rounds with tool calls was reached [entry"));

    let json = home.json(&["trace", "c"]);
    let reasons: Vec<&str> = json.iter().map(|row| row["stop_reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["tool_use", "tool_use", "tool_use", "max_iters"]);
    let iterations: Vec<u64> = json.iter().map(|row| row["iter"].as_u64().unwrap()).collect();
    assert_eq!(iterations, [1, 2, 3, 4]);
    let call = &json[0]["tool_calls"][0];
    assert_eq!((&call["name"], &call["ok"]), (&"Read".into(), &true.into()));
    assert_eq!(call["input_hash"].as_str().unwrap().len(), 64);
    assert_eq!(json[1]["transition"], "run_tools");
}

#[test]
fn calls_that_failed_say_so_and_many_calls_take_several_lines() {
    let home = TestHome::new(
        "when results 0\n  call Read {\"file_path\": \"a\"}\n  call Nope {}\n  call Nope {\"a\": 1}\n  \
         call Nope {\"a\": 2}\nwhen any\n  say \"done\"\n",
    );
    home.write("a", "x");
    home.run_prompt("go", &["--conversation", "c"]);
    let ran = home.run(&["trace", "c"]);
    assert_eq!(ran.out.matches("Nope 0 ms failed").count(), 3, "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    // A narrow terminal gets narrow lines.
    let trace = ["trace", "c", "--store", "w.db"];
    let ran = home.run_with_env(&trace, &[("COLUMNS", "77")]);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 77), "{}", ran.out);
}

#[test]
fn the_iteration_in_which_a_run_stands_is_a_row_too() {
    let home = TestHome::new("when any\n  call Bash {\"command\": \"rm -r x\"}\n");
    home.run_prompt("go", &["--conversation", "c"]);
    let ran = home.run(&["trace", "c"]);
    assert!(ran.out.contains("open") && ran.out.contains("Bash needs an answer"), "{}", ran.out);
    assert!(ran.out.contains("not finished: waiting for an answer (1 open)"), "{}", ran.out);
}

#[test]
fn an_interrupted_call_took_its_time_and_says_how_it_ended() {
    let script = "when user contains \"is up\"\n  say \"half\"\n\
                  when any\n  call Bash {\"command\": \"sleep 30\"}\n";
    let place = TestHome::new(script);
    std::fs::create_dir(place.path("home")).unwrap();
    let times = "[profiles.quick]\ntimes = { soft_ms = 1000, hard_ms = 20000, grace_ms = 200 }\n";
    place.write("home/config.toml", times);
    let more = ["--profile", "quick", "--allow", "Bash", "--conversation", "c"];
    assert_eq!(place.run_prompt("go", &more).code, 0);
    let json = place.json(&["trace", "c"]);
    let call = &json[0]["tool_calls"][0];
    assert!(call["ms"].as_u64().unwrap() >= 900, "{call}");
    let ran = place.run(&["trace", "c"]);
    let line = ran.out.lines().find(|line| line.contains("Bash")).unwrap();
    assert!(line.contains(" s interrupted") && !line.contains("0 ms"), "{line}");
}
