//! Models. Today: the scripted model, which answers offline from a text file.

pub mod scripted;
