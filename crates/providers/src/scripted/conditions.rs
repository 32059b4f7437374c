//! Reading the conditions after `when`.

use super::cursor::Cursor;
use super::error::Problem;
use super::limits::MAX_CONDITIONS;
use super::script::{Condition, Count, Outcome, ResultTest, Test, TextTest};

/// The conditions of one rule, joined by `and`.
pub(super) fn list(cursor: &mut Cursor<'_>) -> Result<Vec<Condition>, Problem> {
    let mut conditions = vec![condition(cursor)?];
    while cursor.eat("and") {
        if conditions.len() >= MAX_CONDITIONS {
            return Err(Problem::TooLarge { what: "conditions in a rule", limit: MAX_CONDITIONS });
        }
        conditions.push(condition(cursor)?);
    }
    cursor.end_line("`and` with another condition, or a new line with the first step")?;
    Ok(conditions)
}

fn condition(cursor: &mut Cursor<'_>) -> Result<Condition, Problem> {
    if cursor.eat("not") {
        return Ok(Condition::Fails(test(cursor)?));
    }
    Ok(Condition::Holds(test(cursor)?))
}

fn test(cursor: &mut Cursor<'_>) -> Result<Test, Problem> {
    if cursor.at_line_end() {
        return Err(cursor.expected("a condition, such as any or user contains \"…\""));
    }
    let start = cursor.clone();
    match cursor.word() {
        "any" => Ok(Test::Any),
        "user" => user(cursor),
        "results" => Ok(Test::Results(count(cursor)?)),
        "result" => result(cursor, Outcome::Whatever),
        "error" => result(cursor, Outcome::Error),
        "ask" => Ok(Test::Ask(count(cursor)?)),
        "tools" => offers(cursor),
        "" => Err(Problem::UnknownCondition { word: start.excerpt() }),
        word => Err(Problem::UnknownCondition { word: word.to_owned() }),
    }
}

const TEXT_TEST: &str = "is \"…\", contains \"…\" or matches \"…*…\"";

fn user(cursor: &mut Cursor<'_>) -> Result<Test, Problem> {
    match text_test(cursor)? {
        Some(test) => Ok(Test::User(test)),
        None => Err(cursor.expected(TEXT_TEST)),
    }
}

fn text_test(cursor: &mut Cursor<'_>) -> Result<Option<TextTest>, Problem> {
    let test = match cursor.peek() {
        "is" => TextTest::Is,
        "contains" => TextTest::Contains,
        "matches" => TextTest::Matches,
        _ => return Ok(None),
    };
    cursor.word();
    Ok(Some(test(cursor.text("a text in double quotes")?)))
}

fn result(cursor: &mut Cursor<'_>, outcome: Outcome) -> Result<Test, Problem> {
    let tool = match cursor.eat("of") {
        true => Some(cursor.name("the name of a tool")?),
        false => None,
    };
    let text = text_test(cursor)?;
    Ok(Test::Result(ResultTest { outcome, tool, text }))
}

fn offers(cursor: &mut Cursor<'_>) -> Result<Test, Problem> {
    if !cursor.eat("include") {
        return Err(cursor.expected("include and the name of a tool"));
    }
    Ok(Test::Offers(cursor.name("the name of a tool")?))
}

fn count(cursor: &mut Cursor<'_>) -> Result<Count, Problem> {
    let wanted = "a number such as 2, or 2+ for two or more";
    let word = cursor.peek();
    let count = match word.strip_suffix('+') {
        Some(least) => digits(least).map(Count::AtLeast),
        None => digits(word).map(Count::Exactly),
    };
    let count = count.ok_or_else(|| cursor.expected(wanted))?;
    cursor.word();
    Ok(count)
}

/// A number in plain digits: a sign is not one.
fn digits(word: &str) -> Option<u32> {
    word.chars().all(|c| c.is_ascii_digit()).then(|| word.parse().ok()).flatten()
}
