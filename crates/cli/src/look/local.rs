//! The words of commands that are typed as prompts.

use windlass::core::ids::LaneId;
use windlass::core::record::Record;

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
    let mut lines = vec!["Prompts that are commands, with --continue or --resume ID:".to_owned()];
    lines.extend(Name::ALL.map(line));
    if !customs.is_empty() {
        lines.push("Prompts that somebody wrote down in .claude/commands:".to_owned());
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
    let begun = format!("a new conversation begins: {new}; --continue goes on with it");
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
    let price = story.now.settings_in_use().and_then(|settings| settings.model.price);
    let money = match price {
        Some(_) => dollars(spent.usd_micros),
        None => "nobody knows the price of the model".to_owned(),
    };
    let (tokens, runs) = (counted(spent.tokens, "token"), counted(runs as u64, "run"));
    format!("{tokens} in {runs}: {money}")
}
