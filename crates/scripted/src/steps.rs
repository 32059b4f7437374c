//! Parses the lines below `when`.

use super::limits::MAX_DELAY_MS;
use super::rule_builder::RuleBuilder;
use super::script::{CallAction, GivenUsage, RuleAction};
use super::script_cursor::ScriptCursor;
use super::script_error::ScriptProblem;
use super::scripted_answer::{ScriptedFault, ScriptedStop};

const EXPECTED_TEXT: &str = "a text in double quotes";

/// Parses one line of a rule.
pub(super) fn parse_line(
    cursor: &mut ScriptCursor<'_>,
    draft: &mut RuleBuilder,
) -> Result<(), ScriptProblem> {
    let start = cursor.clone();
    match cursor.take_word() {
        "say" => parse_say(cursor, draft)?,
        "think" => parse_think(cursor, draft)?,
        "call" => parse_call(cursor, draft)?,
        "truncate" => parse_truncate(cursor, draft)?,
        "raw" => parse_raw(cursor, draft)?,
        "delay" => draft.push_step("delay", RuleAction::Delay(parse_duration_ms(cursor)?))?,
        "pace" => draft.push_step("pace", RuleAction::Pace(parse_duration_ms(cursor)?))?,
        "stop" => draft.set_stop(parse_stop(cursor)?)?,
        "cut" if cursor.take_word_if("inside") => draft.push_cut_inside()?,
        "cut" => draft.push_cut()?,
        "fail" => draft.push_fault(parse_fault(cursor)?)?,
        "usage" => draft.set_usage(parse_usage(cursor)?)?,
        "once" => draft.set_limit("once", 1)?,
        "times" => draft.set_limit("times", parse_times(cursor)?)?,
        "" => return Err(ScriptProblem::UnknownStep { word: start.excerpt() }),
        word => return Err(ScriptProblem::UnknownStep { word: word.to_owned() }),
    }
    cursor.expect_line_end("nothing more on this line, or a comment after #")
}

fn parse_say(cursor: &mut ScriptCursor<'_>, draft: &mut RuleBuilder) -> Result<(), ScriptProblem> {
    let text = draft.parse_template(&cursor.take_text(EXPECTED_TEXT)?)?;
    draft.push_step("say", RuleAction::Say(text))
}

fn parse_think(
    cursor: &mut ScriptCursor<'_>,
    draft: &mut RuleBuilder,
) -> Result<(), ScriptProblem> {
    let text = draft.parse_template(&cursor.take_text(EXPECTED_TEXT)?)?;
    draft.push_step("think", RuleAction::Think(text))
}

fn parse_call(cursor: &mut ScriptCursor<'_>, draft: &mut RuleBuilder) -> Result<(), ScriptProblem> {
    let (name, id) = parse_call_target(cursor)?;
    let input = match cursor.is_at_line_end() {
        true => "{}",
        false => cursor.take_json("the input as JSON, such as {\"path\": \"a.txt\"}")?,
    };
    let input = draft.parse_template(input)?;
    draft.push_step("call", RuleAction::Call(CallAction { id, name, input }))
}

fn parse_truncate(
    cursor: &mut ScriptCursor<'_>,
    draft: &mut RuleBuilder,
) -> Result<(), ScriptProblem> {
    if !cursor.take_word_if("call") {
        return Err(cursor.expected_error("call, a tool, and the beginning of its input"));
    }
    let (name, id) = parse_call_target(cursor)?;
    let input = draft.parse_template(cursor.take_rest_of_line()?)?;
    draft.push_truncated_call(RuleAction::TruncatedCall(CallAction { id, name, input }))
}

/// Parses `NAME` or `NAME as ID`.
fn parse_call_target(
    cursor: &mut ScriptCursor<'_>,
) -> Result<(String, Option<String>), ScriptProblem> {
    let name = cursor.take_name("the name of a tool")?;
    let id = match cursor.take_word_if("as") {
        true => Some(cursor.take_name("an id for the call")?),
        false => None,
    };
    Ok((name, id))
}

fn parse_raw(cursor: &mut ScriptCursor<'_>, draft: &mut RuleBuilder) -> Result<(), ScriptProblem> {
    let wanted = "a block as a JSON object, such as {\"type\": \"odd\"}";
    let start = cursor.clone();
    let json = cursor.take_json(wanted)?;
    if !json.starts_with('{') {
        return Err(start.expected_error(wanted));
    }
    draft.push_step("raw", RuleAction::Raw(json.to_owned()))
}

fn parse_stop(cursor: &mut ScriptCursor<'_>) -> Result<ScriptedStop, ScriptProblem> {
    let reason = cursor.take_name("a stop reason, such as end_turn")?;
    let sequence = match reason.as_str() {
        "stop_sequence" => Some(cursor.take_text("the sequence in double quotes")?),
        _ => None,
    };
    Ok(ScriptedStop { reason, sequence })
}

fn parse_fault(cursor: &mut ScriptCursor<'_>) -> Result<ScriptedFault, ScriptProblem> {
    match cursor.peek_word() {
        "timeout" => Ok(take_named_fault(cursor, ScriptedFault::Timeout)),
        "connect" => Ok(take_named_fault(cursor, ScriptedFault::Connect)),
        _ => parse_status_fault(cursor),
    }
}

fn take_named_fault(cursor: &mut ScriptCursor<'_>, fault: ScriptedFault) -> ScriptedFault {
    cursor.take_word();
    fault
}

fn parse_status_fault(cursor: &mut ScriptCursor<'_>) -> Result<ScriptedFault, ScriptProblem> {
    let code = parse_number(cursor, "timeout, connect, or a status from 400 to 599", |n: &u16| {
        (400..=599).contains(n)
    })?;
    let retry_after = match cursor.take_word_if("retry-after") {
        true => Some(cursor.take_name("seconds, or any text in double quotes")?),
        false => None,
    };
    let message = match cursor.is_at_line_end() {
        true => format!("scripted fault {code}"),
        false => cursor.take_text("retry-after, or a message in double quotes")?,
    };
    Ok(ScriptedFault::Status { code, retry_after, message })
}

fn parse_usage(cursor: &mut ScriptCursor<'_>) -> Result<GivenUsage, ScriptProblem> {
    let mut usage = GivenUsage::default();
    loop {
        let start = cursor.clone();
        let (word, slot) = match cursor.take_word() {
            "in" => ("in", &mut usage.input),
            "out" => ("out", &mut usage.output),
            "cache_read" => ("cache_read", &mut usage.cache_read),
            "cache_write" => ("cache_write", &mut usage.cache_write),
            _ => {
                return Err(
                    start.expected_error("in, out, cache_read or cache_write, each with a number")
                );
            }
        };
        if slot.replace(parse_number(cursor, "a number of tokens", |_: &u64| true)?).is_some() {
            return Err(ScriptProblem::GivenTwice { word });
        }
        if cursor.is_at_line_end() {
            return Ok(usage);
        }
    }
}

fn parse_times(cursor: &mut ScriptCursor<'_>) -> Result<u32, ScriptProblem> {
    parse_number(cursor, "a number from 1", |n: &u32| *n >= 1)
}

/// Parses `200ms`, `2s` or `1m`, in milliseconds.
fn parse_duration_ms(cursor: &mut ScriptCursor<'_>) -> Result<u64, ScriptProblem> {
    let word = cursor.peek_word();
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let ms = word.split_at_checked(end).and_then(|(digits, unit)| to_milliseconds(digits, unit));
    let ms = ms.filter(|ms| *ms <= MAX_DELAY_MS);
    let ms = ms
        .ok_or_else(|| cursor.expected_error("a time of at most a day, such as 200ms, 2s or 1m"))?;
    cursor.take_word();
    Ok(ms)
}

fn to_milliseconds(digits: &str, unit: &str) -> Option<u64> {
    let scale = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

/// Parses a number of plain digits within the allowed range.
fn parse_number<T: std::str::FromStr>(
    cursor: &mut ScriptCursor<'_>,
    wanted: &'static str,
    allowed: impl Fn(&T) -> bool,
) -> Result<T, ScriptProblem> {
    let word = cursor.peek_word();
    let plain = word.chars().all(|c| c.is_ascii_digit());
    let number = word.parse().ok().filter(|n| plain && allowed(n));
    let number = number.ok_or_else(|| cursor.expected_error(wanted))?;
    cursor.take_word();
    Ok(number)
}
