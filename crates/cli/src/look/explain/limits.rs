//! What was used, against what is allowed.

use windlass::core::budget::{Caps, Spent};
use windlass::core::run::Counters;
use windlass::core::settings::Settings;

use super::words;
use super::{Past, Sentence};
use crate::look::estimate::{Priced, estimate};

/// Rounds, model calls, time and money, each with its cap.
pub(super) fn sentences(past: &Past<'_>) -> Vec<Sentence> {
    let Some(settings) = past.at_end.settings.as_deref() else { return Vec::new() };
    let Some(used) = used(past) else { return Vec::new() };
    let mut said = vec![
        Sentence::plain(words::rounds(&used.counters, settings)),
        Sentence::plain(words::time(used.active_ms, settings)),
        Sentence::plain(words::spent(used.spent, run_caps(settings), used.priced)),
    ];
    said.extend(estimate(past.estimated, used.priced).map(Sentence::plain));
    let conversation = settings.budget.conversation;
    if conversation != Caps::default() {
        let spent = past.at_end.spent;
        said.push(Sentence::plain(words::conversation_spent(spent, conversation)));
    }
    let profile = settings.budget.profile.caps;
    if let Some(seen) = past.at_end.shared_spending.filter(|_| profile != Caps::default()) {
        let spent = seen.with_own(&past.at_end.committed());
        said.push(Sentence::plain(words::profile_spent(&settings.profile, spent, profile)));
    }
    said
}

struct Used {
    counters: Counters,
    active_ms: u64,
    spent: Spent,
    priced: Priced,
}

fn used(past: &Past<'_>) -> Option<Used> {
    let price = past.at_end.settings_in_use()?.model.price;
    let priced = if price.is_some() { Priced::Yes } else { Priced::No };
    if let Some(ended) = past.ended() {
        let counters = ended.counters.clone();
        return Some(Used { counters, active_ms: ended.active_ms, spent: ended.spent, priced });
    }
    let run = past.at_end.run.as_ref().filter(|run| run.id == *past.run)?;
    let active_ms = past.at_end.active_ms(past.at_end.at);
    Some(Used { counters: run.counters.clone(), active_ms, spent: run.spent, priced })
}

/// The caps of a run: its own and the older one of the limits.
fn run_caps(settings: &Settings) -> Caps {
    settings.budget.run.tighter(&Caps { tokens: settings.limits.run_tokens, usd_micros: None })
}
