//! The words of commands that are typed as prompts.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass::core::budget::Spent;
use windlass::core::ids::LaneId;
use windlass::core::record::Record;

use super::estimate::{Priced, charged_unmeasured, estimate};
use super::numbers::{counted, dollars};
use super::paper::one_line;
use super::story::Story;
use crate::prompt::slash::Name;
use crate::settle::customs::Custom;

/// Characters shown of what a command is for.
const ABOUT_CHARS: usize = 100;

/// What there is.
pub(crate) fn help(customs: &[Custom]) -> String {
    let line = |name: Name| format!("/{:<8} {}", name.word(), name.about());
    let mut lines = vec!["Commands, used as a prompt with --continue or --resume ID:".to_owned()];
    lines.extend(Name::ALL.map(line));
    if !customs.is_empty() {
        lines.push("Custom commands from .claude/commands:".to_owned());
        lines.extend(customs.iter().map(custom));
    }
    lines.push("`@path` in a prompt attaches a file or the names in a folder.".to_owned());
    lines.join("\n")
}

fn custom(custom: &Custom) -> String {
    let name = &custom.name;
    match custom.open() {
        Ok(page) => {
            let hint = page.hint.map(|hint| format!(" {hint}")).unwrap_or_default();
            format!("/{name}{hint}  {}", one_line(&page.about, ABOUT_CHARS))
        }
        Err(why) => format!("/{name}  cannot be used: {why}"),
    }
}

/// A new conversation begins.
pub(crate) fn cleared(new: &LaneId, old: Option<&LaneId>) -> String {
    let begun = format!("new conversation: {new}; --continue continues it");
    match old {
        Some(old) => format!("{begun}, --resume {old} with the one before"),
        None => begun,
    }
}

/// The command needs a conversation.
pub(crate) fn about_nothing(name: Name) -> String {
    format!("/{} is about a conversation; add --continue or --resume ID", name.word())
}

/// What a conversation has used.
pub(crate) fn cost(story: &Story) -> String {
    let records = story.entries.iter().flat_map(|entry| &entry.records);
    let runs = records.filter(|record| matches!(record, Record::RunStarted { .. })).count();
    let spent = story.now.spent;
    let unpriced = unpriced(story);
    let (tokens, runs) = (counted(spent.tokens, "token"), counted(runs as u64, "run"));
    let names: Vec<&str> = unpriced.keys().map(|name| &**name).collect();
    let missing: u64 = unpriced.values().sum();
    let advice =
        format!("price unknown for {}; give it in [models.NAME] of config.toml", names.join(", "));
    let whole = match missing {
        0 => format!("{tokens} in {runs}: {}", dollars(spent.usd_micros)),
        _ if missing >= spent.tokens => format!("{tokens} in {runs}: {advice}"),
        _ => {
            let (money, missing) = (dollars(spent.usd_micros), counted(missing, "token"));
            format!("{tokens} in {runs}: {money} without {missing} ({advice})")
        }
    };
    let guess = estimated(story);
    let priced = if missing == 0 { Priced::Yes } else { Priced::No };
    [whole].into_iter().chain(estimate(guess, priced)).collect::<Vec<_>>().join("\n")
}

/// What was charged for calls that never reported what they used.
fn estimated(story: &Story) -> Spent {
    let mut estimated = Spent::default();
    story.walk(|moment| estimated.plus(&charged_unmeasured(moment)));
    estimated
}

/// Tokens that were used without a price, by model.
fn unpriced(story: &Story) -> BTreeMap<Arc<str>, u64> {
    let mut unpriced = BTreeMap::new();
    story.walk(|moment| {
        let (before, now) = (&moment.before.spent, &moment.now.spent);
        let tokens = now.tokens.saturating_sub(before.tokens);
        let Some(settings) = moment.before.settings_in_use() else { return };
        if tokens > 0 && now.usd_micros == before.usd_micros && settings.model.price.is_none() {
            *unpriced.entry(settings.model.name.clone()).or_default() += tokens;
        }
    });
    unpriced
}
