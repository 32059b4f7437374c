//! The words of commands that are typed as prompts.

use windlass::core::record::Record;

use super::numbers::{counted, dollars};
use super::story::Story;
use crate::prompt::slash::Name;

/// What there is.
pub(crate) fn help() -> String {
    let line = |name: Name| format!("/{:<8} {}", name.word(), name.about());
    let mut lines = vec!["Prompts that are commands, with --continue or --resume ID:".to_owned()];
    lines.extend(Name::ALL.map(line));
    lines.push("`@path` in a prompt attaches a file or the names in a folder.".to_owned());
    lines.join("\n")
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
