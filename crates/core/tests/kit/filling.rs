//! Long conversations: replies that count their tokens as a provider would, and rounds that fill the
//! window.

use windlass_core::context::{StageSwitch, Summariser};
use windlass_core::settings::conversation_settings::Settings;

use super::build::{ReplyBuilder, call, calls};
use super::lane::Lane;

/// Bytes per token in these stories.
const BYTES_PER_TOKEN: u64 = 4;

/// A window of 20,000 tokens of which 18,600 are usable: compaction begins at 52 KB, calls are
/// blocked at 73 KB, and a compaction must leave at most 37 KB.
pub(crate) fn small(settings: &mut Settings) {
    settings.model.window_tokens = 20_000;
    settings.model.max_tokens = 1_000;
    settings.model.max_output_tokens = 1_000;
    settings.guards.exempt = vec!["read".into()];
}

/// A small window without the pruning stages.
pub(crate) fn paid_only(settings: &mut Settings) {
    small(settings);
    settings.window.snip = StageSwitch::Off;
    settings.window.micro = StageSwitch::Off;
    settings.window.collapse = StageSwitch::Off;
}

/// A small window without the pruning stages, with a summariser.
pub(crate) fn summed_up(settings: &mut Settings) {
    paid_only(settings);
    settings.window.summariser = Summariser::OwnModel;
}

/// Returns the text of a file with so many characters, different from any other.
pub(crate) fn page(name: usize, chars: usize) -> String {
    format!("page {name} ").chars().cycle().take(chars).collect()
}

impl Lane {
    /// The model replies, and its usage is what it was sent.
    pub(crate) fn says(self, answer: ReplyBuilder) -> Self {
        let tokens = self.live.request_bytes() / BYTES_PER_TOKEN;
        self.reply(answer.usage(tokens, 10))
    }

    /// A round that reads a file of so many characters.
    pub(crate) fn reads(self, name: usize, chars: usize) -> Self {
        let id = format!("t{name}");
        let block = call(&id, "read", &format!("/f{name}"));
        self.says(calls([block])).returns(0, &page(name, chars))
    }

    /// So many such rounds, as long as the model is called.
    pub(crate) fn fills(self, rounds: std::ops::Range<usize>, chars: usize) -> Self {
        rounds.fold(self, |lane, name| lane.reads(name, chars))
    }

    /// Such rounds until a review is pending.
    pub(crate) fn fills_up(self, chars: usize) -> Self {
        let mut lane = self;
        while lane.run().pending_model_call().is_some() {
            let name = lane.live.model_call_count as usize;
            lane = lane.reads(name, chars);
        }
        lane
    }

    /// Returns how full the window is, in per cent of the usable part of a small one.
    pub(crate) fn share(&self) -> u64 {
        self.live.request_bytes() / BYTES_PER_TOKEN * 100 / 18_600
    }
}
