//! Unknown long flags. For people they are errors. An SDK may be newer than this program, so for an
//! SDK they are reported and left out.

use std::ffi::{OsStr, OsString};

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::CliArgs;

#[cfg(test)]
#[path = "unknown_flags_tests.rs"]
mod unknown_flags_tests;

/// Who started the process, as far as unknown flags are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownFlagPolicy {
    /// An unknown flag is an error.
    Reject,
    /// An unknown flag is left out.
    Ignore,
}

/// The parsed command line, and the flags that were left out.
#[derive(Debug)]
pub(crate) struct ParsedLine {
    pub(crate) args: CliArgs,
    /// The unknown flags, as they were typed, without their values.
    pub(crate) ignored: Vec<String>,
}

/// Parses the words of a command line.
pub(crate) fn parse_words(
    words: &[OsString],
    policy: UnknownFlagPolicy,
) -> Result<ParsedLine, clap::Error> {
    let mut words = words.to_vec();
    let mut ignored = Vec::new();
    // Every pass removes a word, so there are at most as many passes as words.
    loop {
        match CliArgs::try_parse_from(&words) {
            Ok(args) => return Ok(ParsedLine { args, ignored }),
            Err(error) => {
                let flag = unknown_flag(&error).filter(|_| policy == UnknownFlagPolicy::Ignore);
                let at = flag.as_deref().and_then(|flag| position_of(&words, flag));
                let (Some(flag), Some(at)) = (flag, at) else { return Err(error) };
                remove_flag(&mut words, at);
                ignored.push(flag);
            }
        }
    }
}

/// The unknown long flag that an error is about.
fn unknown_flag(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if flag.starts_with("--") => {
            Some(flag.split('=').next().unwrap_or(flag).to_owned())
        }
        _ => None,
    }
}

/// The position of a flag that has its value attached or not. Words behind `--` are not flags.
fn position_of(words: &[OsString], flag: &str) -> Option<usize> {
    let is_flag = |word: &OsString| {
        let word = word.to_string_lossy();
        word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    };
    words.iter().take_while(|word| *word != "--").position(is_flag)
}

/// Removes a flag and the word behind it, if that is its value. With `-p` the word may be the
/// prompt; SDKs send prompts through standard input, so for them it is a value.
fn remove_flag(words: &mut Vec<OsString>, at: usize) {
    let is_print = |word: &OsString| word == "-p" || word == "--print";
    let removed = words.remove(at);
    let has_value = removed.to_string_lossy().contains('=');
    let next = words.get(at).map(OsString::as_os_str);
    let is_value = next.is_some_and(|next| !is_option(next));
    if !has_value && is_value && !words.iter().any(is_print) {
        words.remove(at);
    }
}

fn is_option(word: &OsStr) -> bool {
    word.to_string_lossy().starts_with('-')
}
