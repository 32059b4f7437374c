//! The limits of a script, so that a script from any source costs bounded memory.

/// The longest script, in bytes.
pub const MAX_SCRIPT_BYTES: usize = 1024 * 1024;
/// The most rules in one script.
pub const MAX_RULES: usize = 10_000;
/// The most conditions joined by `and` in one rule.
pub const MAX_CONDITIONS: usize = 32;
/// The most steps in one rule.
pub const MAX_STEPS: usize = 1_000;
/// The longest single text or JSON value in a script, in bytes.
pub const MAX_TEXT_BYTES: usize = 256 * 1024;
/// The most `${…}` slots in one rule.
pub const MAX_SLOTS: usize = 100;
/// How much of the conversation one slot copies, in characters; the text itself says how much was
/// left out.
pub const MAX_SLOT_CHARS: usize = 64 * 1024;
/// The longest `delay` or `pace`, in milliseconds: one day.
pub const MAX_DELAY_MS: u64 = 24 * 60 * 60 * 1000;
/// How much of the user's text the answer of a script without a matching rule quotes, in
/// characters.
pub const MAX_QUOTED_CHARS: usize = 200;
/// How much of a script line an error quotes, in characters.
pub const MAX_FOUND_CHARS: usize = 40;

/// How many characters make a token, where a script names no usage.
pub const CHARS_PER_TOKEN: usize = 4;
