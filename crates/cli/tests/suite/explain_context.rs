//! `windlass explain`: the context, the fallback, truncated replies. And what `windlass compact`
//! does.

use windlass::core::context::Summariser;
use windlass::core::settings::conversation_settings::{ModelSpec, Settings};

use crate::scripted_runs::{ScriptedTool, play_prompts};
use crate::test_home::TestHome;

/// Every prompt leads to a large result. The model reports no tokens, so bytes are counted.
const LARGE: &str = "when results 0\n  call Look {\"at\": \"${user}\"}\n  usage in 0 out 9\n\
     when any\n  say \"seen\"\n  usage in 0 out 9\n";

fn small_window(settings: &mut Settings) {
    settings.model.window_tokens = 16_000;
    settings.model.max_tokens = 1_024;
}

fn long_text(times: usize) -> String {
    (0..times).map(|n| format!("line {n} of a long text. ")).collect()
}

// spec: CLI-08
#[test]
fn which_stage_acted_which_failed_and_what_set_off_the_fallback() {
    let home = TestHome::new(LARGE);
    let prompts = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    play_prompts(&home, "stages", &prompts, |b| {
        b.tool(ScriptedTool::read_only("Look", &long_text(200))).settings(small_window)
    });
    let ran = home.run(&["show", "stages"]);
    assert!(ran.out.contains("micro: "), "{}", ran.out);
    let runs = home.json(&["runs"]);
    let messages: Vec<String> =
        runs.iter().map(|run| home.run(&["explain", run["run"].as_str().unwrap()]).out).collect();
    let acted = messages.iter().find(|out| out.contains("Pruning stage micro shortened")).unwrap();
    assert!(acted.contains("tokens freed (") && acted.contains("[entry "), "{acted}");

    // Only one word may be left out: the rest is one message.
    let home = TestHome::new(LARGE);
    let large = long_text(2_500);
    play_prompts(&home, "stuck", &["go", &large], |b| {
        b.tool(ScriptedTool::read_only("Look", "x")).settings(|settings| {
            small_window(settings);
            settings.limits.kept_messages = 1;
            settings.limits.result_chars = 100_000;
        })
    });
    let ran = home.run(&["explain", "stuck"]);
    for expected in [
        "It stopped (blocking_limit): the context window is full and nothing more can be compacted (about",
        "R1, standard compaction was used",
        "No recovery step is left, or nothing more can be compacted.",
        "windlass fork --at ENTRY stuck",
    ] {
        let out = ran.out.replace("\n  ", " ");
        assert!(out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    }

    let home =
        TestHome::new("when ask 1\n  times 2\n  fail 529 \"overloaded\"\nwhen any\n  say \"x\"\n");
    play_prompts(&home, "fallback", &["go"], |b| {
        b.settings(|settings| {
            settings.limits.model_retries = 1;
            settings.limits.model_retry_ms = 1;
            settings.fallback = Some(ModelSpec::with_defaults("the-other"));
        })
    });
    let ran = home.run(&["explain", "fallback"]);
    assert!(ran.out.contains("The model call failed (1 in a row)"), "{}", ran.out);
    let fell = "The fallback model the-other is used from here on";
    assert!(ran.out.contains(fell) && ran.out.contains("overloaded"), "{}", ran.out);

    let home = TestHome::new(
        "when user contains \"truncated\"\n  say \"two.\"\nwhen any\n  say \"One, \"\n  stop max_tokens\n",
    );
    home.run_prompt("count", &["--conversation", "cut"]);
    let ran = home.run(&["explain", "cut"]);
    assert!(
        ran.out.contains("Truncated replies: 2 of 3 consecutive recoveries were used."),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("requested again with a higher output limit. [entry"), "{}", ran.out);
    assert!(ran.out.contains("Truncated text was continued. [entry"), "{}", ran.out);
}

#[test]
fn a_dry_run_says_what_the_compaction_then_does() {
    let home = TestHome::new(
        "when user contains \"windlass is\"\n  say \"the summary\"\nwhen any\n  say \"said ${user}\"\n",
    );
    let prompts: Vec<String> = (0..9).map(|n| format!("windlass is {n}")).collect();
    let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
    let quiet = |settings: &mut Settings| settings.window.summariser = Summariser::Off;
    play_prompts(&home, "c", &prompts, |b| b.settings(quiet));
    let ran = home.run(&["compact", "c", "--dry-run"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("The window is 0 % full"), "{}", ran.out);
    assert!(
        ran.out.contains(
            "a compaction would run compact; 8 message parts would be replaced by a summary"
        ),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("the last 10 message parts"), "{}", ran.out);
    let planned = &home.json(&["compact", "c", "--dry-run"])[0];
    assert_eq!((&planned["sent"], &planned["before"]["dropped_parts"]), (&false.into(), &8.into()));
    assert!(
        !home.run(&["show", "c"]).out.contains("a compaction was requested"),
        "nothing was sent"
    );

    let ran = home.run(&["compact", "c"]);
    assert!(ran.out.contains("before its next model call"), "{}", ran.out);
    play_prompts(&home, "c", &["go on"], |b| b.settings(quiet));
    let output = home.run(&["show", "c"]).out;
    assert!(output.contains("a compaction was requested"), "{output}");
    // By then there was one more message at the end.
    assert!(output.contains("R1, standard compaction: 9 message parts compacted"), "{output}");
    let told = home.run(&["explain", "c"]).out;
    assert!(told.contains("R1, standard compaction was used: about"), "{told}");
    assert!(told.contains("1 of 4 context recoveries were used"), "{told}");
}

#[test]
fn a_conversation_with_nothing_old_has_nothing_to_leave_out() {
    let home = TestHome::new("when any\n  say \"x\"\n");
    home.run_prompt("hi", &["--conversation", "c"]);
    let ran = home.run(&["compact", "c", "--dry-run"]);
    assert!(ran.out.contains("nothing to compact"), "{}", ran.out);
    // Nor is anything promised.
    let ran = home.run(&["compact", "c", "keep the word swordfish"]);
    assert!(ran.code == 0 && ran.out.starts_with("Nothing was done: "), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    assert_eq!(home.json(&["compact", "c"])[0]["sent"], false);
}
