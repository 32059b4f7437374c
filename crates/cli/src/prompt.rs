//! From what was typed to what is sent: the words, commands that are for Windlass and not for the
//! model, and the files that go with them.

pub(crate) mod arguments;
pub(crate) mod mentions;
pub(crate) mod slash;
pub(crate) mod typed;
