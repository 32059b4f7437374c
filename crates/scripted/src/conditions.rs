//! Parses the conditions after `when`.

use super::limits::MAX_CONDITIONS;
use super::script::{Condition, ConditionTest, CountTest, ResultFilter, ResultTest, TextTest};
use super::script_cursor::ScriptCursor;
use super::script_error::ScriptProblem;

/// Parses the conditions of one rule, joined by `and`.
pub(super) fn parse_conditions(
    cursor: &mut ScriptCursor<'_>,
) -> Result<Vec<Condition>, ScriptProblem> {
    let mut conditions = vec![parse_condition(cursor)?];
    while cursor.take_word_if("and") {
        if conditions.len() >= MAX_CONDITIONS {
            return Err(ScriptProblem::TooLarge {
                what: "conditions in a rule",
                limit: MAX_CONDITIONS,
            });
        }
        conditions.push(parse_condition(cursor)?);
    }
    cursor.expect_line_end("`and` with another condition, or a new line with the first step")?;
    Ok(conditions)
}

fn parse_condition(cursor: &mut ScriptCursor<'_>) -> Result<Condition, ScriptProblem> {
    if cursor.take_word_if("not") {
        return Ok(Condition::Fails(parse_test(cursor)?));
    }
    Ok(Condition::Holds(parse_test(cursor)?))
}

fn parse_test(cursor: &mut ScriptCursor<'_>) -> Result<ConditionTest, ScriptProblem> {
    if cursor.is_at_line_end() {
        return Err(cursor.expected_error("a condition, such as any or user contains \"…\""));
    }
    let start = cursor.clone();
    match cursor.take_word() {
        "any" => Ok(ConditionTest::Any),
        "user" => parse_user_test(cursor),
        "results" => Ok(ConditionTest::Results(parse_count(cursor)?)),
        "result" => parse_result_test(cursor, ResultFilter::AnyResult),
        "error" => parse_result_test(cursor, ResultFilter::Error),
        "ask" => Ok(ConditionTest::Ask(parse_count(cursor)?)),
        "tools" => parse_tools_test(cursor),
        "" => Err(ScriptProblem::UnknownCondition { word: start.excerpt() }),
        word => Err(ScriptProblem::UnknownCondition { word: word.to_owned() }),
    }
}

const TEXT_TEST_SYNTAX: &str = "is \"…\", contains \"…\" or matches \"…*…\"";

fn parse_user_test(cursor: &mut ScriptCursor<'_>) -> Result<ConditionTest, ScriptProblem> {
    match parse_text_test(cursor)? {
        Some(test) => Ok(ConditionTest::User(test)),
        None => Err(cursor.expected_error(TEXT_TEST_SYNTAX)),
    }
}

fn parse_text_test(cursor: &mut ScriptCursor<'_>) -> Result<Option<TextTest>, ScriptProblem> {
    let test = match cursor.peek_word() {
        "is" => TextTest::Is,
        "contains" => TextTest::Contains,
        "matches" => TextTest::Matches,
        _ => return Ok(None),
    };
    cursor.take_word();
    Ok(Some(test(cursor.take_text("a text in double quotes")?)))
}

fn parse_result_test(
    cursor: &mut ScriptCursor<'_>,
    outcome: ResultFilter,
) -> Result<ConditionTest, ScriptProblem> {
    let tool = match cursor.take_word_if("of") {
        true => Some(cursor.take_name("the name of a tool")?),
        false => None,
    };
    let text = parse_text_test(cursor)?;
    Ok(ConditionTest::Result(ResultTest { outcome, tool, text }))
}

fn parse_tools_test(cursor: &mut ScriptCursor<'_>) -> Result<ConditionTest, ScriptProblem> {
    if !cursor.take_word_if("include") {
        return Err(cursor.expected_error("include and the name of a tool"));
    }
    Ok(ConditionTest::Offers(cursor.take_name("the name of a tool")?))
}

fn parse_count(cursor: &mut ScriptCursor<'_>) -> Result<CountTest, ScriptProblem> {
    let wanted = "a number such as 2, or 2+ for two or more";
    let word = cursor.peek_word();
    let count = match word.strip_suffix('+') {
        Some(least) => parse_digits(least).map(CountTest::AtLeast),
        None => parse_digits(word).map(CountTest::Exactly),
    };
    let count = count.ok_or_else(|| cursor.expected_error(wanted))?;
    cursor.take_word();
    Ok(count)
}

/// Parses a number of plain digits, without a sign.
fn parse_digits(word: &str) -> Option<u32> {
    word.chars().all(|c| c.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}
