//! Budgets at every scope, from the command line and `config.toml`, in one process and in two.

use std::process::Stdio;

use windlass::core::budget::spending::ModelPrice;

use crate::scripted_runs::play_prompts;
use crate::test_home::TestHome;

/// Every reply uses 100 tokens.
const SCRIPT: &str = "when any\n  say \"x\"\n  usage in 90 out 10\n";

fn spent_tokens(place: &TestHome) -> i64 {
    let store = rusqlite::Connection::open(place.path("w.db")).unwrap();
    store.query_row("SELECT sum(tokens) FROM spending", [], |row| row.get(0)).unwrap()
}

fn new_home(config: &str) -> TestHome {
    let place = TestHome::new(SCRIPT);
    std::fs::create_dir_all(place.path("home")).unwrap();
    place.write("home/config.toml", config);
    place
}

// spec: BUDGETS-01
#[test]
fn every_scope_can_be_set() {
    let config = "[profiles.call]\ncall_budget_tokens = 500\n\
                  [profiles.talk]\nconversation_budget_tokens = 500\n\
                  [profiles.all]\nprofile_budget_tokens = 500\n";
    let place = new_home(config);
    for flags in [
        ["--profile", "call"],
        ["--profile", "talk"],
        ["--profile", "all"],
        ["--max-call-budget-tokens", "500"],
        ["--max-conversation-budget-tokens", "500"],
        ["--max-budget-tokens", "500"],
    ] {
        let ran = place.run_prompt("go", &flags);
        assert_eq!(ran.code, 1, "{flags:?}: {}", ran.out);
        assert!(ran.err.contains("the budget in tokens is spent"), "{flags:?}: {}", ran.err);
    }
    let ran = place.run_prompt("go", &["--max-conversation-budget-usd", "0"]);
    assert!(ran.code != 0 && ran.err.contains("budget"), "{}", ran.err);
}

// spec: BUDGETS-01
#[test]
fn a_conversation_cap_holds_over_its_runs_and_a_profile_cap_over_conversations() {
    let config = "[profiles.talk]\nconversation_budget_tokens = 20000\n\
                  limits = { least_output_tokens = 100 }\n\
                  [profiles.all]\nprofile_budget_tokens = 20000\nprofile_budget_period = \"day\"\n\
                  limits = { least_output_tokens = 100 }\n";
    let place = new_home(config);
    // Every reply uses 2,000 tokens.
    place.write("a.script", "when any\n  say \"x\"\n  usage in 90 out 1910\n");
    let ask = |profile: &str, conversation: &str| {
        place.run_prompt("go", &["--profile", profile, "--conversation", conversation])
    };
    // Each run is a process of its own, and the first one over the budget is rejected.
    let runs = (1..=12).find(|_| {
        let ran = ask("talk", "one");
        assert!(ran.code == 0 || ran.err.contains("the budget in tokens is spent"), "{}", ran.err);
        ran.code != 0
    });
    let runs = runs.expect("the cap of a conversation holds over its runs");
    // The tokens of a call are reserved before it, so the budget is reached before its last token.
    assert!(runs > 3, "{runs}");
    assert_eq!(ask("talk", "two").code, 0, "another conversation has a cap of its own");
    let runs = (1..=12).find(|nth| {
        let ran = ask("all", &format!("c{nth}"));
        assert!(ran.code == 0 || ran.err.contains("the budget in tokens is spent"), "{}", ran.err);
        if ran.code == 0 {
            assert_eq!(spent_tokens(&place), 2_000 * nth, "what was set aside is given back");
        }
        ran.code != 0
    });
    let runs = runs.expect("the cap of a profile holds over conversations");
    assert!(runs > 3, "{runs}");
    assert_eq!(ask("talk", "three").code, 0, "another profile has a cap of its own");
    let ran = place.run(&["explain", "c1"]);
    assert!(ran.out.contains("all conversations of the profile all: "), "{}", ran.out);
}

/// Two processes on one store cannot spend more together than the budget and one call each.
// spec: BUDGETS-01
#[test]
fn two_processes_keep_one_profile_cap() {
    let config = "[profiles.p]\nprofile_budget_tokens = 30000\n\
                  limits = { least_output_tokens = 100 }\n";
    let place = new_home(config);
    place.write("a.script", "when any\n  say \"x\"\n  usage in 90 out 910\n");
    // Each thread runs one process after the other; there are two at any time.
    let until_the_cap = |conversation: &str| {
        let ask = || place.run_prompt("go", &["--profile", "p", "--conversation", conversation]);
        let refused = (0..60).map(|_| ask()).find(|ran| ran.code != 0);
        let said = refused.map(|ran| ran.err).unwrap_or_default();
        assert!(said.contains("the budget in tokens is spent"), "{said}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| until_the_cap("one"));
        scope.spawn(|| until_the_cap("two"));
    });
    let store = rusqlite::Connection::open(place.path("w.db")).unwrap();
    let sum = "SELECT sum(input_tokens + output_tokens) FROM run";
    let used: i64 = store.query_row(sum, [], |row| row.get(0)).unwrap();
    assert_eq!(used, spent_tokens(&place), "the account has what the runs used");
    // A reserved call is at most 4,096 tokens of output and its input.
    assert!(used > 20_000 && used <= 30_000 + 2 * 8_192, "{used}");
}

/// One run without a price does not remove the prices of the others.
#[test]
fn cost_says_what_is_priced_and_what_is_not() {
    let place = new_home("");
    let price = ModelPrice {
        input_usd_micros: 1_000_000_000,
        output_usd_micros: 1_000_000_000,
        cache_read_usd_micros: 0,
        cache_write_usd_micros: 0,
        above: None,
    };
    play_prompts(&place, "c", &["go"], |builder| {
        builder.settings(|settings| settings.model.price = Some(price))
    });
    let ran = place.run_prompt("go", &["--conversation", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = place.run(&["-p", "/cost", "--resume", "c"]);
    assert_eq!(
        ran.out.trim(),
        "200 tokens in 2 runs: $0.1000, not counting 100 tokens (price unknown for scripted; give it in \
         [models.NAME] of config.toml)"
    );
}

/// A budget in dollars for a model without a price does not count as reached.
// spec: BUDGETS-07
#[test]
fn an_unknown_price_says_so_and_where_to_give_one() {
    let place = new_home("");
    let ran = place.run_prompt("go", &["--max-budget-usd", "1", "--conversation", "c"]);
    assert_eq!(ran.code, 1);
    let told = format!("{}{}", ran.out, ran.err);
    assert!(told.contains("price unknown for scripted"), "{told}");
    assert!(told.contains("[models.\"scripted\"] of config.toml"), "{told}");
    assert!(!told.contains("cap is reached"), "{told}");
    let ran = place.run(&["explain", "c"]);
    assert!(
        ran.out.contains("price unknown") && !ran.out.contains("Raise the budget"),
        "{}",
        ran.out
    );
}

#[test]
fn spending_that_nobody_measured_is_told_apart() {
    let place = TestHome::new("when any\n  delay 60s\n  say \"late\"\n");
    place.write("quick.script", "when any\n  say \"done\"\n");
    let store = ["--store", "w.db", "--conversation", "c"];
    let mut command = place.command(&[&["-p", "go", "--script", "a.script"], &store[..]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    place.wait_until("the model call", || {
        place.run(&["explain", "c"]).out.contains("Calling the model")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = place.run(&["resume", "c", "--script", "quick.script"]);
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "done\n"), "{}", resumed.err);
    let cost = place.run(&["-p", "/cost", "--resume", "c", "--script", "quick.script"]);
    for told in [place.run(&["explain", "c"]).out, cost.out] {
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains("tokens are an upper estimate"), "{told}");
    }
}
