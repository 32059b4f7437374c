//! Tests: what is a valid script, what is not, and what the error says then.

use super::limits::{
    MAX_CONDITIONS, MAX_DELAY_MS, MAX_RULES, MAX_SCRIPT_BYTES, MAX_SLOTS, MAX_STEPS, MAX_TEXT_BYTES,
};
use super::scripted_answer::{
    AnswerStep, RequestView, ScriptedAnswer, ScriptedFault, ScriptedStop,
};
use super::{RuleUses, Script, ScriptError};

/// The answer of a script's first rule, which must hold for an empty request.
fn answer(steps: &str) -> ScriptedAnswer {
    let script = Script::parse(&format!("when any\n{steps}")).unwrap();
    script.answer(&mut RuleUses::default(), &RequestView { ask: 1, ..RequestView::default() })
}

fn complaint(script: &str) -> String {
    Script::parse(script).unwrap_err().to_string()
}

fn say(text: &str) -> AnswerStep {
    AnswerStep::Say(text.to_owned())
}

fn call(id: &str, name: &str, input_json: &str) -> AnswerStep {
    AnswerStep::Call { id: id.to_owned(), name: name.to_owned(), input_json: input_json.to_owned() }
}

fn stop(reason: &str) -> ScriptedStop {
    ScriptedStop { reason: reason.to_owned(), sequence: None }
}

#[test]
fn nothing_and_comments_are_a_script_without_rules() {
    for text in ["", "\n\n", "# only this", "  # a\n\t#b\r\n", "\u{feff}# with a byte order mark"] {
        assert_eq!(Script::parse(text), Ok(Script::default()), "{text:?}");
    }
}

#[test]
fn rules_know_their_lines() {
    let script = Script::parse("# x\n\nwhen any\n  say \"a\"\n\nwhen ask 2\n  cut\n").unwrap();
    let lines: Vec<usize> = script.rules.iter().map(super::Rule::line).collect();
    assert_eq!(lines, [3, 6]);
}

#[test]
fn comments_end_any_line_but_not_a_text() {
    assert_eq!(answer("say \"a # b\" # c").steps, [say("a # b")]);
    assert_eq!(
        answer("call R {\"a\": \"#\"} # c").steps,
        [call("toolu_1_1", "R", "{\"a\": \"#\"}")]
    );
    assert_eq!(answer("call R # c").steps, [call("toolu_1_1", "R", "{}")]);
    assert_eq!(answer("delay 1s# c").steps, [AnswerStep::Delay(1000)]);
}

#[test]
fn windows_line_ends_are_line_ends() {
    assert_eq!(
        answer("say \"a\"\r\nsay \"\"\"\r\n  b\r\n  c\r\n  \"\"\"\r\ncut\r\n").steps,
        [say("a"), say("b\nc"), AnswerStep::Cut]
    );
}

#[test]
fn texts_have_json_escapes() {
    assert_eq!(answer(r#"say "a\n\"b\" \u05d0 😀 \ud83d\ude00""#).steps, [say("a\n\"b\" א 😀 😀")]);
}

#[test]
fn a_block_loses_the_indentation_of_its_closing_quotes() {
    let steps =
        "say \"\"\" # long\n    one\n\n      \"two\" \\n # stays\n    \"\"\" # done\nsay \"x\"";
    assert_eq!(answer(steps).steps, [say("one\n\n  \"two\" \\n # stays"), say("x")]);
    assert_eq!(answer("say \"\"\"\n\"\"\"").steps, [say("")]);
}

#[test]
fn a_block_may_stand_in_a_condition() {
    let script = "when user is \"\"\"\n  a\n  b\n  \"\"\" and ask 1\n  say \"yes\"";
    let script = Script::parse(script).unwrap();
    let view = RequestView { ask: 1, last_user_text: "a\nb", ..RequestView::default() };
    assert_eq!(script.answer(&mut RuleUses::default(), &view).steps, [say("yes")]);
}

#[test]
fn calls_take_json_as_it_is_written() {
    for json in
        ["{ \"b\": 1,\n \"a\": [2, 3] }", "[1]", "\"text\"", "17", "null", r#"{"s": "\ud800"}"#]
    {
        assert_eq!(answer(&format!("call R {json}")).steps, [call("toolu_1_1", "R", json)]);
    }
}

#[test]
fn calls_have_names_and_ids() {
    let steps = "call mcp__a.b:c/d{}\ncall \"my tool\" as \"an id\" {}\ncall A as x\ncall B";
    let expected = [
        call("toolu_1_1", "mcp__a.b:c/d", "{}"),
        call("an id", "my tool", "{}"),
        call("x", "A", "{}"),
        call("toolu_1_4", "B", "{}"),
    ];
    assert_eq!(answer(steps).steps, expected);
}

#[test]
fn a_truncated_call_takes_the_rest_of_the_line() {
    let step = |id: &str, partial: &str| AnswerStep::TruncatedCall {
        id: id.to_owned(),
        name: "W".to_owned(),
        partial_json: partial.to_owned(),
    };
    let partial = "{\"p\": \"x # y";
    assert_eq!(answer(&format!("truncate call W {partial}  ")).steps, [step("toolu_1_1", partial)]);
    assert_eq!(answer("truncate call W as t\ncut").steps, [step("t", ""), AnswerStep::Cut]);
}

#[test]
fn stops_are_usual_or_given() {
    let table = [
        ("say \"a\"", stop("end_turn")),
        ("say \"a\"\ncall R", stop("tool_use")),
        ("call R\ntruncate call R {", stop("max_tokens")),
        ("truncate call R {\nstop tool_use", stop("tool_use")),
        ("call R\nstop refusal", stop("refusal")),
        ("stop \"any thing\"", stop("any thing")),
        (
            r#"stop stop_sequence "\nUser:""#,
            ScriptedStop {
                reason: "stop_sequence".to_owned(),
                sequence: Some("\nUser:".to_owned()),
            },
        ),
    ];
    for (steps, expected) in table {
        assert_eq!(answer(steps).stop, expected, "{steps}");
    }
}

#[test]
fn faults_are_read() {
    let status = |code, retry: Option<&str>, message: &str| {
        let (retry_after, message) = (retry.map(str::to_owned), message.to_owned());
        ScriptedFault::Status { code, retry_after, message }
    };
    let table = [
        ("fail 529", status(529, None, "scripted fault 529")),
        ("fail 429 retry-after 2", status(429, Some("2"), "scripted fault 429")),
        ("fail 429 retry-after \"Fri, 31 Dec\" \"slow\"", status(429, Some("Fri, 31 Dec"), "slow")),
        ("fail 400 \"no\" # c", status(400, None, "no")),
        ("fail timeout", ScriptedFault::Timeout),
        ("fail connect", ScriptedFault::Connect),
    ];
    for (steps, fault) in table {
        assert_eq!(answer(steps).steps, [AnswerStep::Fail(fault)], "{steps}");
    }
}

#[test]
fn times_and_cuts_are_steps_in_their_place() {
    let steps = "pace 20ms\ndelay 1m\nraw {\"type\": \"odd\"}\ncut inside\n";
    let raw = AnswerStep::Raw("{\"type\": \"odd\"}".to_owned());
    let expected = [AnswerStep::Pace(20), AnswerStep::Delay(60_000), raw, AnswerStep::CutInside];
    assert_eq!(answer(steps).steps, expected);
}

#[test]
fn complaints_say_where_what_and_what_instead() {
    let table = [
        (
            "say \"a\"",
            "line 1: `say \"a\"` stands before the first rule; write `when any` above it",
        ),
        (
            "# c\nwhen any\n\nwhen any\n say \"a\"",
            "line 2: this rule has no answer; write `say \"…\"` below it, or `stop end_turn` for an empty reply",
        ),
        (
            "when user hello\n say \"a\"",
            "line 1: found `hello`; write is \"…\", contains \"…\" or matches \"…*…\"",
        ),
        (
            "when # c\n say \"a\"",
            "line 1: found the end of the line; write a condition, such as any or user contains \"…\"",
        ),
        (
            "when maybe\n say \"a\"",
            "line 1: unknown condition `maybe`; write one of any, user, results, result, error, ask, tools, or not before one of them",
        ),
        (
            "when any or error\n say \"a\"",
            "line 1: found `or error`; write `and` with another condition, or a new line with the first step",
        ),
        (
            "when ask three\n cut",
            "line 1: found `three`; write a number such as 2, or 2+ for two or more",
        ),
        ("when any\n say hello", "line 2: found `hello`; write a text in double quotes"),
        (
            "when any\n say \"a\" \"b\"",
            "line 2: found `\"b\"`; write nothing more on this line, or a comment after #",
        ),
        (
            "when any\n say \"a\n\n say \"b\"",
            "line 2: bad text (EOF while parsing a string); write \"…\" on one line with JSON escapes, or a `\"\"\"` block",
        ),
        (
            "when any\n shout \"a\"",
            "line 2: unknown step `shout`; write one of say, think, call, truncate, raw, delay, pace, stop, cut, fail, usage, once, times, or start a rule with when",
        ),
        (
            "when any\n call R {\n \"a\": 1,\n b }\n",
            "line 4: bad JSON (key must be a string); write one complete value, or `truncate call` for a partial one",
        ),
        (
            "when any\n call R {\"a\": 1\n",
            "line 2: bad JSON (EOF while parsing an object); write one complete value, or `truncate call` for a partial one",
        ),
        (
            "when any\n call R {\"a\": \"b\n\n}",
            "line 2: bad JSON (control character (\\u0000-\\u001F) found while parsing a string); write one complete value, or `truncate call` for a partial one",
        ),
        (
            "when any\n say \"\"\"\n a\n",
            "line 2: this text is never closed; write `\"\"\"` on a line of its own below it",
        ),
        (
            "when any\n say \"\"\"\n    a\n  b\n    \"\"\"",
            "line 4: this line starts left of the closing `\"\"\"`; indent it, or move the closing quotes",
        ),
        (
            "when any\n say \"\"\"a\"\"\"",
            "line 2: found `a\"\"\"`; write a new line after `\"\"\"`, with the text below it",
        ),
        (
            "when any\n say \"echo ${HOME} now\"",
            "line 2: unknown slot `${HOME}`; write `${user}`, `${result}` or `${ask}`, or `$${` for a plain `${`",
        ),
        (
            "when any\n fail 200",
            "line 2: found `200`; write timeout, connect, or a status from 400 to 599",
        ),
        (
            "when any\n delay 5",
            "line 2: found `5`; write a time of at most a day, such as 200ms, 2s or 1m",
        ),
        (
            "when any\n cut\n once\n say \"a\"",
            "line 4: `say` comes after `cut`, which ends the answer; move it up or remove it",
        ),
        (
            "when any\n stop x\n stop y",
            "line 3: `stop` comes after `stop`, which ends the answer; move it up or remove it",
        ),
        (
            "when any\n truncate call R {\n say \"a\"",
            "line 3: `say` comes after `truncate`, which ends the answer; move it up or remove it",
        ),
        ("when any\n once\n times 2", "line 3: `times` is given twice in this rule; keep one"),
        ("when any\n usage in 1 in 2", "line 2: `in` is given twice in this rule; keep one"),
        (
            "when any\n say \"a\"\n delay 1s\n cut inside",
            "line 4: `cut inside` cuts the block above it; write a say, think, call or raw directly above, or plain `cut`",
        ),
        (
            "when any\n say \"a\"\n fail connect",
            "line 3: a connection that has streamed cannot fail to connect; write `cut`",
        ),
        (
            "when any\n raw [1]",
            "line 2: found `[1]`; write a block as a JSON object, such as {\"type\": \"odd\"}",
        ),
    ];
    for (script, expected) in table {
        assert_eq!(complaint(script), expected, "{script}");
    }
}

#[test]
fn numbers_are_plain_digits_within_their_bounds() {
    let day_over = format!("delay {}ms", MAX_DELAY_MS + 1);
    let table = [
        "times 0",
        "times +1",
        "times -1",
        "times 4294967296",
        "usage",
        "usage in",
        "usage in x",
        "usage in 18446744073709551616",
        "usage cats 3",
        "delay ms",
        "delay 1.5s",
        "pace 1h",
        "delay 99999999999999999999s",
        "delay 18446744073709551615m",
        "fail 600",
        "fail",
        "stop",
        "stop stop_sequence",
        "truncate W {",
        "call",
        "raw",
        "call R as",
        day_over.as_str(),
    ];
    for steps in table {
        let script = format!("when any\nsay \"a\"\n{steps}");
        let error = Script::parse(&script).unwrap_err();
        assert!(matches!(error, ScriptError::AtLine { line: 3, .. }), "{steps}: {error}");
    }
    for condition in
        ["ask +1", "ask 1++", "ask", "results -1", "tools Bash", "result of", "not not any"]
    {
        assert!(Script::parse(&format!("when {condition}\n cut")).is_err(), "{condition}");
    }
}

#[test]
fn every_bound_holds_exactly() {
    let rule = "when any\n cut\n";
    let steps = |n: usize| format!("when any\n{}", "say \"\"\n".repeat(n));
    let text = |n: usize| format!("when any\n say \"{}\"", "x".repeat(n));
    let slots = |n: usize| format!("when any\n say \"{}\"", "${ask}".repeat(n));
    let conditions = |n: usize| format!("when any{}\n cut", " and any".repeat(n - 1));
    let size = |n: usize| format!("{rule}#{}", "x".repeat(n - rule.len() - 1));
    let table: [(&dyn Fn(usize) -> String, usize); 6] = [
        (&|n| rule.repeat(n), MAX_RULES),
        (&steps, MAX_STEPS),
        (&text, MAX_TEXT_BYTES),
        (&slots, MAX_SLOTS),
        (&conditions, MAX_CONDITIONS),
        (&size, MAX_SCRIPT_BYTES),
    ];
    for (script, limit) in table {
        assert_eq!(Script::parse(&script(limit)).err(), None);
        assert!(Script::parse(&script(limit + 1)).is_err(), "{limit}");
    }
}

#[test]
fn deep_json_is_read_without_recursion() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(answer(&format!("call R {deep}")).steps, [call("toolu_1_1", "R", &deep)]);
}

const EVERYTHING: &str = r#"
# everything
when not user contains "hé\u05d0 😀" and results 0 and error of "x y" matches "*a?" and tools include B
  think "a ${user} $${x}"
  say """
    block ${result}

    """
  call Read as t1 {"a": ["${ask}", 1.5e3, null], "b": {"c": true}}
  raw {"type": "odd"}
  delay 200ms
  pace 1s
  truncate call Write {"content": "abc
  stop stop_sequence "x"
  usage in 1 out 2 cache_read 3 cache_write 4
  times 3
when ask 2+ and result is "b"
  fail 429 retry-after 2 "m"
when result of Read contains "z"
  say "x"
  cut inside
"#;

/// A small random number generator, so that a failure is the same everywhere.
struct TestRandom(u64);

impl TestRandom {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

fn mutated(dice: &mut TestRandom) -> String {
    const EXTRA_TOKENS: [&str; 18] = [
        "\"",
        "\"\"\"",
        "\n",
        "${",
        "$${",
        "}",
        "{",
        "#",
        "\\",
        "\0",
        "\r",
        "😀",
        "\u{feff}",
        " when ",
        " and ",
        "\\ud800",
        "99999999999999999999",
        "\u{a0}",
    ];
    let mut bytes = EVERYTHING.as_bytes().to_vec();
    for _ in 0..=dice.roll(4) {
        let (from, to) = (dice.roll(bytes.len() + 1), dice.roll(12));
        let end = (from + to).min(bytes.len());
        match dice.roll(3) {
            0 => drop(bytes.drain(from..end)),
            1 => {
                drop(bytes.splice(from..from, EXTRA_TOKENS[dice.roll(EXTRA_TOKENS.len())].bytes()));
            }
            _ => bytes[from..end].iter_mut().for_each(|b| *b = dice.roll(256) as u8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn everything_is_a_script() {
    assert_eq!(Script::parse(EVERYTHING).unwrap().rules.len(), 3);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let mut dice = TestRandom(7);
    let mut read = 0;
    for _ in 0..20_000 {
        let text = mutated(&mut dice);
        match Script::parse(&text) {
            Ok(script) => {
                read += 1;
                script.answer(
                    &mut RuleUses::default(),
                    &RequestView { ask: 2, ..RequestView::default() },
                );
            }
            Err(ScriptError::AtLine { line, .. }) => {
                assert!((1..=text.matches('\n').count() + 1).contains(&line));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(read > 100, "the mutations break too much to test answers: {read}");
}

#[test]
fn every_prefix_is_read_or_refused() {
    for (at, _) in EVERYTHING.char_indices() {
        drop(Script::parse(&EVERYTHING[..at]));
    }
}
