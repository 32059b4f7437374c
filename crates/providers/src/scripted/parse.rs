//! Reading a script: rules, and the lines of a rule.

use super::conditions;
use super::cursor::Cursor;
use super::draft::Draft;
use super::error::{Error, Problem};
use super::limits::{MAX_RULES, MAX_SCRIPT_BYTES};
use super::script::{Rule, Script};
use super::steps;

pub(super) fn script(text: &str) -> Result<Script, Error> {
    if text.len() > MAX_SCRIPT_BYTES {
        return Err(Error::ScriptTooLong { bytes: text.len() });
    }
    let mut cursor = Cursor::new(text);
    let mut rules = Vec::new();
    while cursor.next_statement() {
        begin(&mut cursor, rules.len()).map_err(|problem| cursor.here(problem))?;
        rules.push(rule(&mut cursor)?);
    }
    Ok(Script { rules })
}

fn begin(cursor: &mut Cursor<'_>, rules: usize) -> Result<(), Problem> {
    if !cursor.eat("when") {
        return Err(Problem::OutsideRule { word: cursor.excerpt() });
    }
    if rules >= MAX_RULES {
        return Err(Problem::TooManyRules);
    }
    Ok(())
}

fn rule(cursor: &mut Cursor<'_>) -> Result<Rule, Error> {
    let line = cursor.line();
    let conditions = conditions::list(cursor).map_err(|problem| cursor.here(problem))?;
    let mut draft = Draft::new(line, conditions);
    while cursor.next_statement() && cursor.peek() != "when" {
        steps::line(cursor, &mut draft).map_err(|problem| cursor.here(problem))?;
    }
    draft.finish().map_err(|problem| Error::At { line, problem })
}
