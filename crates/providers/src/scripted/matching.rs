//! Choosing the rule that answers a request, and filling its answer.

use std::collections::BTreeMap;

use super::answer::{Answer, Seen, SeenResult, Step, Stop, Usage};
use super::glob;
use super::limits::MAX_QUOTED_CHARS;
use super::script::{
    Action, CallAction, Condition, Count, GivenUsage, Outcome, ResultTest, Rule, Script, Test,
    TextTest,
};
use super::template::{Filling, bounded, quoted};

/// How often each rule of one script has answered.
///
/// It lives as long as the process: a conversation resumed elsewhere starts with fresh uses, so
/// `once` and `times` start over there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Uses(BTreeMap<usize, u32>);

impl Uses {
    fn left(&self, index: usize, rule: &Rule) -> bool {
        let used = self.0.get(&index).copied().unwrap_or(0);
        rule.limit.is_none_or(|limit| used < limit)
    }

    fn count(&mut self, index: usize) {
        let used = self.0.entry(index).or_default();
        *used = used.saturating_add(1);
    }
}

impl Script {
    /// The answer of the first rule whose conditions all hold and that has uses left. A script
    /// without such a rule says so in a text.
    pub fn answer(&self, uses: &mut Uses, seen: &Seen<'_>) -> Answer {
        let fit = |(index, rule): &(usize, &Rule)| uses.left(*index, rule) && holds(rule, seen);
        match self.rules.iter().enumerate().find(fit) {
            Some((index, rule)) => {
                uses.count(index);
                from_rule(rule, seen)
            }
            None => no_rule(seen),
        }
    }
}

fn holds(rule: &Rule, seen: &Seen<'_>) -> bool {
    rule.conditions.iter().all(|condition| match condition {
        Condition::Holds(test) => passes(test, seen),
        Condition::Fails(test) => !passes(test, seen),
    })
}

fn passes(test: &Test, seen: &Seen<'_>) -> bool {
    match test {
        Test::Any => true,
        Test::User(test) => text_passes(test, seen.last_user_text),
        Test::Results(count) => count_passes(*count, seen.results.len()),
        Test::Result(test) => seen.results.iter().any(|result| result_passes(test, result)),
        Test::Ask(count) => count_passes(*count, seen.ask as usize),
        Test::Offers(tool) => seen.tools.contains(&tool.as_str()),
    }
}

fn text_passes(test: &TextTest, text: &str) -> bool {
    match test {
        TextTest::Is(wanted) => text == wanted,
        TextTest::Contains(part) => text.contains(part),
        TextTest::Matches(pattern) => glob::fits(pattern, text),
    }
}

fn count_passes(count: Count, found: usize) -> bool {
    match count {
        Count::Exactly(wanted) => found == wanted as usize,
        Count::AtLeast(least) => found >= least as usize,
    }
}

fn result_passes(test: &ResultTest, result: &SeenResult<'_>) -> bool {
    let outcome = match test.outcome {
        Outcome::Whatever => true,
        Outcome::Error => result.is_error,
    };
    outcome
        && test.tool.as_ref().is_none_or(|tool| tool == result.tool)
        && test.text.as_ref().is_none_or(|test| text_passes(test, result.text))
}

fn from_rule(rule: &Rule, seen: &Seen<'_>) -> Answer {
    let mut ids = Ids { ask: seen.ask, minted: 0 };
    let steps: Vec<Step> = rule.actions.iter().map(|a| step(a, seen, &mut ids)).collect();
    let stop = rule.stop.clone().unwrap_or_else(|| usual_stop(&steps));
    let usage = usage(rule.usage.unwrap_or_default(), seen, &steps);
    Answer { steps, stop, usage }
}

fn no_rule(seen: &Seen<'_>) -> Answer {
    let user = quoted(&bounded(seen.last_user_text, MAX_QUOTED_CHARS));
    let ask = seen.ask;
    let text = format!("scripted model: no rule matches (ask {ask}, last user text {user})");
    let steps = vec![Step::Say(text)];
    let usage = usage(GivenUsage::default(), seen, &steps);
    Answer { steps, stop: Stop::because("end_turn"), usage }
}

fn step(action: &Action, seen: &Seen<'_>, ids: &mut Ids) -> Step {
    match action {
        Action::Say(text) => Step::Say(text.fill(seen, Filling::Plain)),
        Action::Think(text) => Step::Think(text.fill(seen, Filling::Plain)),
        Action::Call(call) => complete_call(call, seen, ids),
        Action::TruncatedCall(call) => truncated_call(call, seen, ids),
        Action::Raw(json) => Step::Raw(json.clone()),
        Action::Delay(ms) => Step::Delay(*ms),
        Action::Pace(ms) => Step::Pace(*ms),
        Action::Cut => Step::Cut,
        Action::CutInside => Step::CutInside,
        Action::Fail(fault) => Step::Fail(fault.clone()),
    }
}

fn complete_call(call: &CallAction, seen: &Seen<'_>, ids: &mut Ids) -> Step {
    Step::Call {
        id: ids.of(call),
        name: call.name.clone(),
        input_json: call.input.fill(seen, Filling::Json),
    }
}

fn truncated_call(call: &CallAction, seen: &Seen<'_>, ids: &mut Ids) -> Step {
    Step::TruncatedCall {
        id: ids.of(call),
        name: call.name.clone(),
        partial_json: call.input.fill(seen, Filling::Json),
    }
}

/// Ids for the calls of one answer: the same request gets the same ids in every process.
struct Ids {
    ask: u32,
    minted: u32,
}

impl Ids {
    fn of(&mut self, call: &CallAction) -> String {
        self.minted = self.minted.saturating_add(1);
        match &call.id {
            Some(id) => id.clone(),
            None => format!("toolu_{}_{}", self.ask, self.minted),
        }
    }
}

fn usual_stop(steps: &[Step]) -> Stop {
    let truncated = |step: &Step| matches!(step, Step::TruncatedCall { .. });
    let call = |step: &Step| matches!(step, Step::Call { .. });
    if steps.iter().any(truncated) {
        Stop::because("max_tokens")
    } else if steps.iter().any(call) {
        Stop::because("tool_use")
    } else {
        Stop::because("end_turn")
    }
}

fn usage(given: GivenUsage, seen: &Seen<'_>, steps: &[Step]) -> Usage {
    let results = seen.results.iter().map(|result| result.text);
    let input = std::iter::once(seen.last_user_text).chain(results);
    // What was said before is read from the cache, as with a provider that has one.
    let older = seen.older_bytes / 4;
    Usage {
        input: given.input.unwrap_or_else(|| tokens(input)),
        output: given.output.unwrap_or_else(|| tokens(steps.iter().map(written))),
        cache_read: given.cache_read.unwrap_or(if given.input.is_none() { older } else { 0 }),
        cache_write: given.cache_write.unwrap_or(0),
    }
}

/// About four characters to a token, and never none.
fn tokens<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let chars: usize = texts.map(|text| text.chars().count()).sum();
    (chars / 4 + 1) as u64
}

/// What the model wrote in a step.
fn written(step: &Step) -> &str {
    match step {
        Step::Say(text) | Step::Think(text) | Step::Raw(text) => text,
        Step::Call { input_json, .. } => input_json,
        Step::TruncatedCall { partial_json, .. } => partial_json,
        Step::Delay(_) | Step::Pace(_) | Step::Cut | Step::CutInside | Step::Fail(_) => "",
    }
}
