//! The words of a prompt: from the command line, from standard input, or from both.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::show;
use crate::words;

/// Prompts larger than this are refused.
const PROMPT_BYTES: u64 = 16 << 20;

/// How long a pipe may stay silent beside a prompt: whoever started us may only have left it open.
const SILENCE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

/// The prompt. What comes through a pipe beside one that was typed is said below it.
pub(crate) fn prompt(given: Option<&str>) -> anyhow::Result<String> {
    let prompt = match given {
        None if io::stdin().is_terminal() => {
            bail!("no prompt given; usage: `windlass -p \"PROMPT\"`")
        }
        None | Some("-") => from_stdin()?,
        Some(text) => match beside()? {
            Some(more) => format!("{text}\n\n{more}"),
            None => text.to_owned(),
        },
    };
    if prompt.trim().is_empty() {
        bail!("the prompt is empty; usage: `windlass -p \"PROMPT\"`");
    }
    Ok(prompt)
}

/// What standard input has for a prompt that was typed.
fn beside() -> anyhow::Result<Option<String>> {
    match source() {
        Source::File => {}
        Source::Pipe if has_something()? => {}
        Source::Pipe => {
            show::note(words::NOTHING_PIPED);
            return Ok(None);
        }
        Source::Nothing => return Ok(None),
    }
    Ok(Some(from_stdin()?).filter(|text| !text.trim().is_empty()))
}

/// What standard input is.
enum Source {
    /// Something that was put there on purpose.
    File,
    /// Something may come, or the end.
    Pipe,
    /// A terminal, `/dev/null`, or nothing at all.
    Nothing,
}

fn source() -> Source {
    use std::os::unix::fs::FileTypeExt;
    let stdin = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let Ok(found) = stdin.and_then(|stdin| stdin.metadata()) else { return Source::Nothing };
    match found.file_type() {
        kind if kind.is_file() => Source::File,
        kind if kind.is_fifo() || kind.is_socket() => Source::Pipe,
        _ => Source::Nothing,
    }
}

/// Whether bytes or the end came in time.
fn has_something() -> anyhow::Result<bool> {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    let ready = poll(&mut asked, Some(&SILENCE)).context("standard input cannot be watched")?;
    Ok(ready > 0)
}

fn from_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().take(PROMPT_BYTES + 1);
    input.read_to_end(&mut bytes).context("the prompt could not be read from standard input")?;
    if bytes.len() as u64 > PROMPT_BYTES {
        bail!(
            "the prompt is larger than {} MiB; put it into a file and name the file",
            PROMPT_BYTES >> 20
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("the prompt is not valid UTF-8 (at byte {}); convert it first", at + 1)
    })
}
