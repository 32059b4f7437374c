//! Parses a script: rules, and the lines of a rule.

use super::conditions;
use super::limits::{MAX_RULES, MAX_SCRIPT_BYTES};
use super::rule_builder::RuleBuilder;
use super::script::{Rule, Script};
use super::script_cursor::ScriptCursor;
use super::script_error::{ScriptError, ScriptProblem};
use super::steps;

pub(super) fn parse_script(text: &str) -> Result<Script, ScriptError> {
    if text.len() > MAX_SCRIPT_BYTES {
        return Err(ScriptError::ScriptTooLong { bytes: text.len() });
    }
    let mut cursor = ScriptCursor::new(text);
    let mut rules = Vec::new();
    while cursor.skip_to_statement() {
        expect_rule_start(&mut cursor, rules.len())
            .map_err(|problem| cursor.error_here(problem))?;
        rules.push(parse_rule(&mut cursor)?);
    }
    Ok(Script { rules })
}

fn expect_rule_start(cursor: &mut ScriptCursor<'_>, rules: usize) -> Result<(), ScriptProblem> {
    if !cursor.take_word_if("when") {
        return Err(ScriptProblem::OutsideRule { word: cursor.excerpt() });
    }
    if rules >= MAX_RULES {
        return Err(ScriptProblem::TooManyRules);
    }
    Ok(())
}

fn parse_rule(cursor: &mut ScriptCursor<'_>) -> Result<Rule, ScriptError> {
    let line = cursor.line();
    let conditions =
        conditions::parse_conditions(cursor).map_err(|problem| cursor.error_here(problem))?;
    let mut draft = RuleBuilder::new(line, conditions);
    while cursor.skip_to_statement() && cursor.peek_word() != "when" {
        steps::parse_line(cursor, &mut draft).map_err(|problem| cursor.error_here(problem))?;
    }
    draft.finish().map_err(|problem| ScriptError::AtLine { line, problem })
}
