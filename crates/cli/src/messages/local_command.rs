//! Messages of slash commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass::core::budget::spending::Spending;
use windlass::core::log::ids::LaneId;
use windlass::core::log::record::Record;

use crate::config::claude::custom_commands::CustomCommand;
use crate::inspect::estimate::{Priced, charged_unmeasured, estimate};
use crate::inspect::history::ConversationHistory;
use crate::prompt::slash_command::LocalCommand;
use crate::terminal::number_format::{count_noun, format_dollars};
use crate::terminal::to_one_line;

/// Maximum characters of a command's description.
const MAX_DESCRIPTION_CHARS: usize = 100;

/// The list of slash commands.
pub(crate) fn command_list(customs: &[CustomCommand]) -> String {
    let line = |name: LocalCommand| format!("/{:<8} {}", name.as_str(), name.description());
    let mut lines = vec!["Commands, used as a prompt with --continue or --resume ID:".to_owned()];
    lines.extend(LocalCommand::ALL.map(line));
    if !customs.is_empty() {
        lines.push("Custom commands and skills:".to_owned());
        lines.extend(customs.iter().map(custom_command_line));
    }
    lines.push("`@path` in a prompt attaches a file or the names in a folder.".to_owned());
    lines.join("\n")
}

fn custom_command_line(custom: &CustomCommand) -> String {
    let name = &custom.name;
    match custom.read_page() {
        Ok(page) => {
            let hint = page.argument_hint.map(|hint| format!(" {hint}")).unwrap_or_default();
            format!("/{name}{hint}  {}", to_one_line(&page.description, MAX_DESCRIPTION_CHARS))
        }
        Err(reason) => format!("/{name}  cannot be used: {reason}"),
    }
}

/// Message: a new conversation was started.
pub(crate) fn conversation_cleared(new: &LaneId, old: Option<&LaneId>) -> String {
    let begun = format!("new conversation: {new}; --continue continues it");
    match old {
        Some(old) => format!("{begun}, --resume {old} the previous one"),
        None => begun,
    }
}

/// Error: the command needs a conversation.
pub(crate) fn needs_conversation(name: LocalCommand) -> String {
    format!("/{} needs a conversation; add --continue or --resume ID", name.as_str())
}

/// What a conversation has used and cost.
pub(crate) fn conversation_cost(history: &ConversationHistory) -> String {
    let records = history.entries.iter().flat_map(|entry| &entry.records);
    let runs = records.filter(|record| matches!(record, Record::RunStarted { .. })).count();
    let spent = history.conversation.spent;
    let unpriced = count_unpriced_tokens(history);
    let (tokens, runs) = (count_noun(spent.tokens, "token"), count_noun(runs as u64, "run"));
    let names: Vec<&str> = unpriced.keys().map(|name| &**name).collect();
    let missing: u64 = unpriced.values().sum();
    let advice =
        format!("price unknown for {}; give it in [models.NAME] of config.toml", names.join(", "));
    let whole = match missing {
        0 => format!("{tokens} in {runs}: {}", format_dollars(spent.usd_micros)),
        _ if missing >= spent.tokens => format!("{tokens} in {runs}: {advice}"),
        _ => {
            let (money, missing) = (format_dollars(spent.usd_micros), count_noun(missing, "token"));
            format!("{tokens} in {runs}: {money}, not counting {missing} ({advice})")
        }
    };
    let guess = estimated(history);
    let priced = if missing == 0 { Priced::Yes } else { Priced::No };
    [whole].into_iter().chain(estimate(guess, priced)).collect::<Vec<_>>().join("\n")
}

/// What was charged for model calls that never reported their usage.
fn estimated(history: &ConversationHistory) -> Spending {
    let mut estimated = Spending::default();
    history.for_each_record(|moment| estimated.add_spending(&charged_unmeasured(moment)));
    estimated
}

/// Counts tokens that were used without a price, by model.
fn count_unpriced_tokens(history: &ConversationHistory) -> BTreeMap<Arc<str>, u64> {
    let mut unpriced = BTreeMap::new();
    history.for_each_record(|moment| {
        let (before, now) = (&moment.before.spent, &moment.after.spent);
        let tokens = now.tokens.saturating_sub(before.tokens);
        let Some(settings) = moment.before.active_settings() else { return };
        if tokens > 0 && now.usd_micros == before.usd_micros && settings.model.price.is_none() {
            *unpriced.entry(settings.model.name.clone()).or_default() += tokens;
        }
    });
    unpriced
}
