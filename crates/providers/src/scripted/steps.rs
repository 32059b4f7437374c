//! Reading the lines below `when`.

use super::answer::{Fault, Stop};
use super::cursor::Cursor;
use super::draft::Draft;
use super::error::Problem;
use super::limits::MAX_DELAY_MS;
use super::script::{Action, CallAction, GivenUsage};

const TEXT: &str = "a text in double quotes";

/// One line of a rule.
pub(super) fn line(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), Problem> {
    let start = cursor.clone();
    match cursor.word() {
        "say" => say(cursor, draft)?,
        "think" => think(cursor, draft)?,
        "call" => call(cursor, draft)?,
        "truncate" => truncate(cursor, draft)?,
        "raw" => raw(cursor, draft)?,
        "delay" => draft.go_on("delay", Action::Delay(duration(cursor)?))?,
        "pace" => draft.go_on("pace", Action::Pace(duration(cursor)?))?,
        "stop" => draft.stop(stop(cursor)?)?,
        "cut" if cursor.eat("inside") => draft.cut_inside()?,
        "cut" => draft.cut()?,
        "fail" => draft.fail(fault(cursor)?)?,
        "usage" => draft.usage(usage(cursor)?)?,
        "once" => draft.limit("once", 1)?,
        "times" => draft.limit("times", times(cursor)?)?,
        "" => return Err(Problem::UnknownStep { word: start.excerpt() }),
        word => return Err(Problem::UnknownStep { word: word.to_owned() }),
    }
    cursor.end_line("nothing more on this line, or a comment after #")
}

fn say(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), Problem> {
    let text = draft.template(&cursor.text(TEXT)?)?;
    draft.go_on("say", Action::Say(text))
}

fn think(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), Problem> {
    let text = draft.template(&cursor.text(TEXT)?)?;
    draft.go_on("think", Action::Think(text))
}

fn call(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), Problem> {
    let (name, id) = called(cursor)?;
    let input = match cursor.at_line_end() {
        true => "{}",
        false => cursor.json("the input as JSON, such as {\"path\": \"a.txt\"}")?,
    };
    let input = draft.template(input)?;
    draft.go_on("call", Action::Call(CallAction { id, name, input }))
}

fn truncate(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), Problem> {
    if !cursor.eat("call") {
        return Err(cursor.expected("call, a tool, and the beginning of its input"));
    }
    let (name, id) = called(cursor)?;
    let input = draft.template(cursor.verbatim()?)?;
    draft.truncate(Action::TruncatedCall(CallAction { id, name, input }))
}

/// `NAME` or `NAME as ID`.
fn called(cursor: &mut Cursor<'_>) -> Result<(String, Option<String>), Problem> {
    let name = cursor.name("the name of a tool")?;
    let id = match cursor.eat("as") {
        true => Some(cursor.name("an id for the call")?),
        false => None,
    };
    Ok((name, id))
}

fn raw(cursor: &mut Cursor<'_>, draft: &mut Draft) -> Result<(), Problem> {
    let wanted = "a block as a JSON object, such as {\"type\": \"odd\"}";
    let start = cursor.clone();
    let json = cursor.json(wanted)?;
    if !json.starts_with('{') {
        return Err(start.expected(wanted));
    }
    draft.go_on("raw", Action::Raw(json.to_owned()))
}

fn stop(cursor: &mut Cursor<'_>) -> Result<Stop, Problem> {
    let reason = cursor.name("a stop reason, such as end_turn")?;
    let sequence = match reason.as_str() {
        "stop_sequence" => Some(cursor.text("the sequence in double quotes")?),
        _ => None,
    };
    Ok(Stop { reason, sequence })
}

fn fault(cursor: &mut Cursor<'_>) -> Result<Fault, Problem> {
    match cursor.peek() {
        "timeout" => Ok(named_fault(cursor, Fault::Timeout)),
        "connect" => Ok(named_fault(cursor, Fault::Connect)),
        _ => status(cursor),
    }
}

fn named_fault(cursor: &mut Cursor<'_>, fault: Fault) -> Fault {
    cursor.word();
    fault
}

fn status(cursor: &mut Cursor<'_>) -> Result<Fault, Problem> {
    let code = number(cursor, "timeout, connect, or a status from 400 to 599", |n: &u16| {
        (400..=599).contains(n)
    })?;
    let retry_after = match cursor.eat("retry-after") {
        true => Some(cursor.name("seconds, or any text in double quotes")?),
        false => None,
    };
    let message = match cursor.at_line_end() {
        true => format!("scripted fault {code}"),
        false => cursor.text("retry-after, or a message in double quotes")?,
    };
    Ok(Fault::Status { code, retry_after, message })
}

fn usage(cursor: &mut Cursor<'_>) -> Result<GivenUsage, Problem> {
    let mut usage = GivenUsage::default();
    loop {
        let start = cursor.clone();
        let (word, slot) = match cursor.word() {
            "in" => ("in", &mut usage.input),
            "out" => ("out", &mut usage.output),
            "cache_read" => ("cache_read", &mut usage.cache_read),
            "cache_write" => ("cache_write", &mut usage.cache_write),
            _ => {
                return Err(
                    start.expected("in, out, cache_read or cache_write, each with a number")
                );
            }
        };
        if slot.replace(number(cursor, "a number of tokens", |_: &u64| true)?).is_some() {
            return Err(Problem::Twice { word });
        }
        if cursor.at_line_end() {
            return Ok(usage);
        }
    }
}

fn times(cursor: &mut Cursor<'_>) -> Result<u32, Problem> {
    number(cursor, "a number from 1", |n: &u32| *n >= 1)
}

/// `200ms`, `2s` or `1m`, in milliseconds.
fn duration(cursor: &mut Cursor<'_>) -> Result<u64, Problem> {
    let word = cursor.peek();
    let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let ms = word.split_at_checked(end).and_then(|(digits, unit)| milliseconds(digits, unit));
    let ms = ms.filter(|ms| *ms <= MAX_DELAY_MS);
    let ms =
        ms.ok_or_else(|| cursor.expected("a time of at most a day, such as 200ms, 2s or 1m"))?;
    cursor.word();
    Ok(ms)
}

fn milliseconds(digits: &str, unit: &str) -> Option<u64> {
    let scale = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(scale)
}

/// A number in plain digits that is allowed here.
fn number<T: std::str::FromStr>(
    cursor: &mut Cursor<'_>,
    wanted: &'static str,
    allowed: impl Fn(&T) -> bool,
) -> Result<T, Problem> {
    let word = cursor.peek();
    let plain = word.chars().all(|c| c.is_ascii_digit());
    let number = word.parse().ok().filter(|n| plain && allowed(n));
    let number = number.ok_or_else(|| cursor.expected(wanted))?;
    cursor.word();
    Ok(number)
}
