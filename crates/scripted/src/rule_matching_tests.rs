//! Tests: which rule answers, and with what.

use super::limits::{MAX_QUOTED_CHARS, MAX_SLOT_CHARS};
use super::scripted_answer::{
    AnswerStep, RequestView, ScriptedAnswer, ScriptedUsage, ToolResultView,
};
use super::{RuleUses, Script, wildcard};

fn ok<'a>(tool: &'a str, text: &'a str) -> ToolResultView<'a> {
    ToolResultView { tool, text, is_error: false }
}

fn failed<'a>(tool: &'a str, text: &'a str) -> ToolResultView<'a> {
    ToolResultView { tool, text, is_error: true }
}

fn ask(script: &str, view: &RequestView<'_>) -> ScriptedAnswer {
    Script::parse(script).unwrap().answer(&mut RuleUses::default(), view)
}

fn said(answer: &ScriptedAnswer) -> &str {
    match answer.steps.as_slice() {
        [AnswerStep::Say(text)] => text,
        other => panic!("not one text: {other:?}"),
    }
}

fn says(steps: &str, view: &RequestView<'_>) -> String {
    said(&ask(&format!("when any\n{steps}"), view)).to_owned()
}

fn seen() -> RequestView<'static> {
    RequestView {
        ask: 3,
        last_user_text: "fix a.txt",
        results: &[],
        tools: &["Read", "Bash"],
        older_bytes: 0,
    }
}

fn holds(condition: &str, view: &RequestView<'_>) -> bool {
    let script = format!("when {condition}\n say \"yes\"\nwhen any\n say \"no\"");
    said(&ask(&script, view)) == "yes"
}

#[test]
fn conditions_on_a_prompt() {
    let table = [
        ("any", true),
        ("not any", false),
        ("user is \"fix a.txt\"", true),
        ("user is \"fix\"", false),
        ("user contains \"a.t\"", true),
        ("user contains \"FIX\"", false),
        ("user matches \"fix *\"", true),
        ("user matches \"fix\"", false),
        ("results 0", true),
        ("results 0+", true),
        ("results 1+", false),
        ("result", false),
        ("error", false),
        ("not result", true),
        ("ask 3", true),
        ("ask 2", false),
        ("ask 2+", true),
        ("ask 4+", false),
        ("tools include Bash", true),
        ("tools include Write", false),
        ("user contains \"fix\" and ask 3 and not tools include Write", true),
        ("user contains \"fix\" and ask 4", false),
    ];
    for (condition, expected) in table {
        assert_eq!(holds(condition, &seen()), expected, "{condition}");
    }
}

#[test]
fn conditions_on_results() {
    let results = [ok("Read", "it is 42"), failed("Bash", "no such file")];
    let view = RequestView { results: &results, ..seen() };
    let table = [
        ("results 2", true),
        ("results 1", false),
        ("results 1+", true),
        ("result", true),
        ("result of Read", true),
        ("result of Write", false),
        ("result of Read contains \"42\"", true),
        ("result of Bash contains \"42\"", false),
        ("result contains \"42\"", true),
        ("result is \"it is 42\"", true),
        ("result matches \"* such *\"", true),
        ("error", true),
        ("error of Bash", true),
        ("error of Read", false),
        ("error contains \"42\"", false),
        ("error of Bash contains \"such\" and result of Read", true),
        ("user contains \"fix\"", true),
    ];
    for (condition, expected) in table {
        assert_eq!(holds(condition, &view), expected, "{condition}");
    }
}

#[test]
fn the_first_rule_that_fits_answers_until_it_is_used_up() {
    let script = "when ask 9\n say \"never\"\nwhen any\n once\n say \"one\"\n\
                  when any\n say \"two\"\n times 2\nwhen any\n say \"rest\"";
    let script = Script::parse(script).unwrap();
    let mut uses = RuleUses::default();
    let mut next = || said(&script.answer(&mut uses, &seen())).to_owned();
    assert_eq!([(); 5].map(|()| next()), ["one", "two", "two", "rest", "rest"]);
}

#[test]
fn fresh_uses_start_over_as_after_a_restart() {
    let script = "when any\n once\n say \"one\"\nwhen any\n say \"rest\"";
    assert_eq!(said(&ask(script, &seen())), "one");
    assert_eq!(said(&ask(script, &seen())), "one");
}

#[test]
fn the_same_request_gets_the_same_ids() {
    let script = "when any\n call A\n call B";
    assert_eq!(ask(script, &seen()), ask(script, &seen()));
    let ids: Vec<String> = ask(script, &seen()).steps.into_iter().map(id).collect();
    assert_eq!(ids, ["toolu_3_1", "toolu_3_2"]);
}

fn id(step: AnswerStep) -> String {
    match step {
        AnswerStep::Call { id, .. } => id,
        other => panic!("not a call: {other:?}"),
    }
}

#[test]
fn slots_are_filled() {
    let results = [ok("Read", "first"), ok("Read", "second")];
    let view = RequestView { results: &results, ..seen() };
    assert_eq!(says(r#"say "${ask}: ${user} -> ${result}.""#, &view), "3: fix a.txt -> first.");
    assert_eq!(says("say \"$${user} $$${ask} $ { ${ask}\"", &view), "${user} $${ask} $ { 3");
    assert_eq!(says("say \"\"\"\n  ${user}\n  \"\"\"", &view), "fix a.txt");
    assert_eq!(says("say \"[${result}]\"", &RequestView::default()), "[]");
}

#[test]
fn what_fills_a_slot_is_not_filled_again() {
    let view = RequestView { last_user_text: "${ask} $${", ..seen() };
    assert_eq!(says("say \"${user}\"", &view), "${ask} $${");
}

#[test]
fn slots_in_json_are_escaped() {
    let view = RequestView { last_user_text: "say \"hi\"\n\\ \u{1} א", ..seen() };
    let answer = ask(
        r#"when any
        call Bash {"${ask}": "echo ${user} $${HOME}"}"#,
        &view,
    );
    let [AnswerStep::Call { input_json, .. }] = answer.steps.as_slice() else {
        panic!("{answer:?}")
    };
    let input: serde_json::Value = serde_json::from_str(input_json).unwrap();
    assert_eq!(input["3"], format!("echo {} ${{HOME}}", view.last_user_text));
}

#[test]
fn a_raw_block_has_no_slots() {
    let answer = ask("when any\n raw {\"type\": \"${odd}\"}", &seen());
    assert_eq!(answer.steps, [AnswerStep::Raw("{\"type\": \"${odd}\"}".to_owned())]);
}

#[test]
fn a_slot_copies_a_bounded_text_and_says_so() {
    let long = "א".repeat(MAX_SLOT_CHARS + 5);
    let text = says("say \"${user}\"", &RequestView { last_user_text: &long, ..seen() });
    assert_eq!(text, format!("{}… [5 more characters]", "א".repeat(MAX_SLOT_CHARS)));
}

#[test]
fn without_a_rule_the_model_says_so() {
    let answer = ask("when ask 9\n cut", &RequestView { last_user_text: "a \"b\"\n", ..seen() });
    let expected = r#"scripted model: no rule matches (ask 3, last user text "a \"b\"\n")"#;
    assert_eq!(said(&answer), expected);
    assert_eq!(answer.stop.reason, "end_turn");
    let long = "x".repeat(MAX_QUOTED_CHARS + 1);
    let answer = ask("", &RequestView { last_user_text: &long, ..seen() });
    assert!(said(&answer).ends_with("x… [1 more characters]\")"), "{answer:?}");
}

#[test]
fn usage_is_given_or_derived() {
    let results = [ok("Read", "12345678")];
    let view = RequestView { last_user_text: "1234", results: &results, ..seen() };
    let usage = |input, output, cache_read, cache_write| ScriptedUsage {
        input,
        output,
        cache_read,
        cache_write,
    };
    let table = [
        ("say \"12345678\"", usage(4, 3, 0, 0)),
        ("stop end_turn", usage(4, 1, 0, 0)),
        ("think \"1234\"\ncall R {\"a\":1}\nraw {\"b\":12}", usage(4, 5, 0, 0)),
        ("say \"a\"\nusage out 30", usage(4, 30, 0, 0)),
        ("usage cache_write 7 cache_read 5 out 3 in 12\nsay \"a\"", usage(12, 3, 5, 7)),
    ];
    for (steps, expected) in table {
        assert_eq!(ask(&format!("when any\n{steps}"), &view).usage, expected, "{steps}");
    }
    let later = RequestView { older_bytes: 400, ..view };
    assert_eq!(ask("when any\nsay \"a\"", &later).usage, usage(4, 1, 100, 0));
    assert_eq!(ask("when any\nsay \"a\"\nusage in 9", &later).usage, usage(9, 1, 0, 0));
}

#[test]
fn wildcards() {
    let table = [
        ("", "", true),
        ("", "a", false),
        ("*", "", true),
        ("*", "any\nlines", true),
        ("?", "", false),
        ("?", "א", true),
        ("a?c", "abc", true),
        ("a*c", "abcbc", true),
        ("a*c", "abcb", false),
        ("*b*", "abc", true),
        ("*ab*ab", "abxabab", true),
        ("**", "x", true),
        ("a*", "b", false),
        ("*a?", "xa", false),
        ("*.txt", "a.txt.txt", true),
    ];
    for (pattern, text, expected) in table {
        assert_eq!(wildcard::matches_pattern(pattern, text), expected, "{pattern:?} {text:?}");
    }
}
