//! Budgets at every scope, from the command line and `config.toml`, in one process and in two.

use std::process::Stdio;

use windlass::core::budget::spending::ModelPrice;

use crate::scripted_runs::play_prompts;
use crate::test_home::TestHome;

/// Every reply uses 100 tokens.
const SCRIPT: &str = "when any\n  say \"x\"\n  usage in 90 out 10\n";

fn spent_tokens(home: &TestHome) -> i64 {
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    store.query_row("SELECT sum(tokens) FROM spending", [], |row| row.get(0)).unwrap()
}

fn new_home(config: &str) -> TestHome {
    let home = TestHome::new(SCRIPT);
    std::fs::create_dir_all(home.path("home")).unwrap();
    home.write("home/config.toml", config);
    home
}

// spec: BUDGETS-01
#[test]
fn every_scope_can_be_set() {
    let config = "[profiles.call]\ncall_budget_tokens = 500\n\
                  [profiles.talk]\nconversation_budget_tokens = 500\n\
                  [profiles.all]\nprofile_budget_tokens = 500\n";
    let home = new_home(config);
    for flags in [
        ["--profile", "call"],
        ["--profile", "talk"],
        ["--profile", "all"],
        ["--max-call-budget-tokens", "500"],
        ["--max-conversation-budget-tokens", "500"],
        ["--max-budget-tokens", "500"],
    ] {
        let ran = home.run_prompt("go", &flags);
        assert_eq!(ran.code, 1, "{flags:?}: {}", ran.out);
        assert!(ran.err.contains("the budget in tokens is spent"), "{flags:?}: {}", ran.err);
    }
    let ran = home.run_prompt("go", &["--max-conversation-budget-usd", "0"]);
    assert!(ran.code != 0 && ran.err.contains("budget"), "{}", ran.err);
}

// spec: BUDGETS-01
#[test]
fn a_conversation_cap_holds_over_its_runs_and_a_profile_cap_over_conversations() {
    let config = "[profiles.talk]\nconversation_budget_tokens = 20000\n\
                  limits = { least_output_tokens = 100 }\n\
                  [profiles.all]\nprofile_budget_tokens = 20000\nprofile_budget_period = \"day\"\n\
                  limits = { least_output_tokens = 100 }\n";
    let home = new_home(config);
    // Every reply uses 2,000 tokens.
    home.write("a.script", "when any\n  say \"x\"\n  usage in 90 out 1910\n");
    let ask = |profile: &str, conversation: &str| {
        home.run_prompt("go", &["--profile", profile, "--conversation", conversation])
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
            assert_eq!(spent_tokens(&home), 2_000 * nth, "what was set aside is given back");
        }
        ran.code != 0
    });
    let runs = runs.expect("the cap of a profile holds over conversations");
    assert!(runs > 3, "{runs}");
    assert_eq!(ask("talk", "three").code, 0, "another profile has a cap of its own");
    let ran = home.run(&["explain", "c1"]);
    assert!(ran.out.contains("all conversations of the profile all: "), "{}", ran.out);
}

/// Two processes on one store cannot spend more together than the budget and one call each.
// spec: BUDGETS-01
#[test]
fn two_processes_keep_one_profile_cap() {
    let config = "[profiles.p]\nprofile_budget_tokens = 30000\n\
                  limits = { least_output_tokens = 100 }\n";
    let home = new_home(config);
    home.write("a.script", "when any\n  say \"x\"\n  usage in 90 out 910\n");
    // Each thread runs one process after the other; there are two at any time.
    let until_the_cap = |conversation: &str| {
        let ask = || home.run_prompt("go", &["--profile", "p", "--conversation", conversation]);
        let refused = (0..60).map(|_| ask()).find(|ran| ran.code != 0);
        let output = refused.map(|ran| ran.err).unwrap_or_default();
        assert!(output.contains("the budget in tokens is spent"), "{output}");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| until_the_cap("one"));
        scope.spawn(|| until_the_cap("two"));
    });
    let store = rusqlite::Connection::open(home.path("w.db")).unwrap();
    let sum = "SELECT sum(input_tokens + output_tokens) FROM run";
    let used: i64 = store.query_row(sum, [], |row| row.get(0)).unwrap();
    assert_eq!(used, spent_tokens(&home), "the account has what the runs used");
    // A reserved call is at most 4,096 tokens of output and its input.
    assert!(used > 20_000 && used <= 30_000 + 2 * 8_192, "{used}");
}

/// One run without a price does not remove the prices of the others.
#[test]
fn cost_says_what_is_priced_and_what_is_not() {
    let home = new_home("");
    let price = ModelPrice {
        input_usd_micros: 1_000_000_000,
        output_usd_micros: 1_000_000_000,
        cache_read_usd_micros: 0,
        cache_write_usd_micros: 0,
        above: None,
    };
    play_prompts(&home, "c", &["go"], |builder| {
        builder.settings(|settings| settings.model.price = Some(price))
    });
    let ran = home.run_prompt("go", &["--conversation", "c"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = home.run(&["-p", "/cost", "--resume", "c"]);
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
    let home = new_home("");
    let ran = home.run_prompt("go", &["--max-budget-usd", "1", "--conversation", "c"]);
    assert_eq!(ran.code, 1);
    let output = format!("{}{}", ran.out, ran.err);
    assert!(output.contains("price unknown for scripted"), "{output}");
    assert!(output.contains("[models.\"scripted\"] of config.toml"), "{output}");
    assert!(!output.contains("cap is reached"), "{output}");
    let ran = home.run(&["explain", "c"]);
    assert!(
        ran.out.contains("price unknown") && !ran.out.contains("Raise the budget"),
        "{}",
        ran.out
    );
}

#[test]
fn spending_that_nobody_measured_is_told_apart() {
    let home = TestHome::new("when any\n  delay 60s\n  say \"late\"\n");
    home.write("quick.script", "when any\n  say \"done\"\n");
    let store = ["--store", "w.db", "--conversation", "c"];
    let mut command = home.command(&[&["-p", "go", "--script", "a.script"], &store[..]].concat());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    home.wait_until("the model call", || {
        home.run(&["explain", "c"]).out.contains("Calling the model")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = home.run(&["resume", "c", "--script", "quick.script"]);
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "done\n"), "{}", resumed.err);
    let cost = home.run(&["-p", "/cost", "--resume", "c", "--script", "quick.script"]);
    for output in [home.run(&["explain", "c"]).out, cost.out] {
        let output = output.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(output.contains("tokens are an upper estimate"), "{output}");
    }
}
