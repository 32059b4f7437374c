//! The program's own log: off unless it is enabled, on standard error, as text or JSON.

use serde_json::Value;

use crate::test_home::TestHome;

const HELLO: &str = "when any\n  say \"hello\"\n";

#[test]
fn the_log_is_written_where_somebody_asks_for_it() {
    let home = TestHome::new(HELLO);
    let ran = home.run_prompt_unattended("hi", &[]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("hello\n", ""), "nothing by itself");
    let ran = home.run_prompt_unattended("hi", &["--log", "info"]);
    assert_eq!(ran.out, "hello\n");
    assert!(
        ran.err.contains("INFO  windlass") && ran.err.contains("agent_run.completed"),
        "{}",
        ran.err
    );
    let ran = home.run_prompt_unattended("hi", &["--log", "info", "--log-format", "json"]);
    let lines: Vec<Value> =
        ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended = lines.iter().find(|line| line["event"] == "agent_run.completed").unwrap();
    assert_eq!((&ended["level"], &ended["target"]), (&"INFO".into(), &"windlass".into()));
    assert!(ended["time"].as_str().unwrap().ends_with('Z'), "{ended}");
    let store = home.path("w.db");
    let args = ["-p", "hi", "--script", "a.script", "--store", store.to_str().unwrap()];
    let ran = home.run_with_env(&args, &[("RUST_LOG", "windlass=info")]);
    assert!(ran.err.contains("agent_run.completed"), "{}", ran.err);
    assert_eq!(home.run_with_env(&args, &[("RUST_LOG", "off")]).err, "");
}

#[test]
fn a_level_that_does_not_exist_is_told() {
    let home = TestHome::new(HELLO);
    let ran = home.run_prompt_unattended("hi", &["--log", "loud,=="]);
    assert!(ran.code == 2 && ran.err.contains("is not a log level"), "{}", ran.err);
}

#[test]
fn times_are_local_with_their_offset() {
    let home = TestHome::new(HELLO);
    home.run_prompt_unattended("hi", &["--conversation", "c"]);
    let store = home.path("w.db");
    let args = ["show", "c", "--store", store.to_str().unwrap()];
    let by_rule =
        [("EST5", "-05:00"), ("UTC", "+00:00"), ("IST-5:30", "+05:30"), ("../x", "+00:00")];
    let has_zones = std::path::Path::new("/usr/share/zoneinfo/Asia/Tokyo").exists();
    let by_name = [("Asia/Tokyo", "+09:00"), (":Asia/Kolkata", "+05:30"), ("No/Where", "+00:00")];
    let by_name = by_name.into_iter().filter(|_| has_zones);
    for (zone, offset) in by_rule.into_iter().chain(by_name) {
        let ran = home.run_with_env(&args, &[("TZ", zone)]);
        assert!(ran.out.contains(offset), "{zone}: {}", ran.out);
    }
}
