//! Long conversations: replies that count their tokens as a provider would, and rounds that fill the
//! window.

use windlass_core::settings::Settings;
use windlass_core::window::{Summariser, Switch};

use super::build::{Answering, call, calls};
use super::lane::Lane;

/// Bytes a token is, in these stories.
const BYTES_PER_TOKEN: u64 = 4;

/// A window of 20,000 tokens of which 18,600 are usable: compaction begins at 52 KB, calls are
/// blocked at 73 KB, and a compaction must leave at most 37 KB.
pub(crate) fn small(settings: &mut Settings) {
    settings.model.window_tokens = 20_000;
    settings.model.max_tokens = 1_000;
    settings.model.most_output_tokens = 1_000;
    settings.guards.exempt = vec!["read".into()];
}

/// The same without the stages that cost nothing.
pub(crate) fn paid_only(settings: &mut Settings) {
    small(settings);
    settings.window.snip = Switch::Off;
    settings.window.micro = Switch::Off;
    settings.window.collapse = Switch::Off;
}

/// The same with somebody who sums up.
pub(crate) fn summed_up(settings: &mut Settings) {
    paid_only(settings);
    settings.window.summariser = Summariser::Own;
}

/// A file's text of so many characters, unlike any other's.
pub(crate) fn page(name: usize, chars: usize) -> String {
    format!("page {name} ").chars().cycle().take(chars).collect()
}

impl Lane {
    /// The model answers, and its usage is what it was sent.
    pub(crate) fn says(self, answer: Answering) -> Self {
        let tokens = self.live.request_bytes() / BYTES_PER_TOKEN;
        self.reply(answer.usage(tokens, 10))
    }

    /// A round that reads a file of so many characters.
    pub(crate) fn reads(self, name: usize, chars: usize) -> Self {
        let id = format!("t{name}");
        let block = call(&id, "read", &format!("/f{name}"));
        self.says(calls([block])).returns(0, &page(name, chars))
    }

    /// So many such rounds, as long as the model is asked.
    pub(crate) fn fills(self, rounds: std::ops::Range<usize>, chars: usize) -> Self {
        rounds.fold(self, |lane, name| lane.reads(name, chars))
    }

    /// How full the window is, in per cent of what is usable of a small one.
    pub(crate) fn share(&self) -> u64 {
        self.live.request_bytes() / BYTES_PER_TOKEN * 100 / 18_600
    }
}
