//! The prompt text: from the command line, standard input, or both.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::fd::AsFd;

use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{messages, terminal};

/// Maximum size of a prompt; larger ones are rejected.
const MAX_PROMPT_BYTES: u64 = 16 << 20;

/// How long a silent pipe beside a prompt is waited for: the parent process may only have left it
/// open.
const PIPE_TIMEOUT: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

/// Reads the prompt. Piped input beside a typed prompt is appended to it.
pub(crate) fn read_prompt(given: Option<&str>) -> anyhow::Result<String> {
    let prompt = match given {
        None if io::stdin().is_terminal() => {
            bail!("no prompt given; usage: `windlass -p \"PROMPT\"`")
        }
        None | Some("-") => read_stdin()?,
        Some(text) => match read_piped_input()? {
            Some(more) => format!("{text}\n\n{more}"),
            None => text.to_owned(),
        },
    };
    if prompt.trim().is_empty() {
        bail!("the prompt is empty; usage: `windlass -p \"PROMPT\"`");
    }
    Ok(prompt)
}

/// Reads standard input beside a typed prompt.
fn read_piped_input() -> anyhow::Result<Option<String>> {
    match stdin_kind() {
        StdinKind::File => {}
        StdinKind::Pipe if wait_for_input()? => {}
        StdinKind::Pipe => {
            terminal::print_note(messages::STDIN_TIMED_OUT);
            return Ok(None);
        }
        StdinKind::Empty => return Ok(None),
    }
    Ok(Some(read_stdin()?).filter(|text| !text.trim().is_empty()))
}

/// The kind of standard input.
enum StdinKind {
    /// A file, given on purpose.
    File,
    /// A pipe: data may come, or the end.
    Pipe,
    /// A terminal, `/dev/null`, or nothing at all.
    Empty,
}

fn stdin_kind() -> StdinKind {
    use std::os::unix::fs::FileTypeExt;
    let stdin = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let Ok(found) = stdin.and_then(|stdin| stdin.metadata()) else { return StdinKind::Empty };
    match found.file_type() {
        kind if kind.is_file() => StdinKind::File,
        kind if kind.is_fifo() || kind.is_socket() => StdinKind::Pipe,
        _ => StdinKind::Empty,
    }
}

/// Returns whether data or the end arrived in time.
fn wait_for_input() -> anyhow::Result<bool> {
    let stdin = io::stdin();
    let mut asked = [PollFd::new(&stdin, PollFlags::IN)];
    let ready = poll(&mut asked, Some(&PIPE_TIMEOUT)).context("cannot poll standard input")?;
    Ok(ready > 0)
}

fn read_stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let mut input = io::stdin().take(MAX_PROMPT_BYTES + 1);
    input.read_to_end(&mut bytes).context("cannot read the prompt from standard input")?;
    if bytes.len() as u64 > MAX_PROMPT_BYTES {
        bail!(
            "the prompt is larger than {} MiB; put it into a file and name the file",
            MAX_PROMPT_BYTES >> 20
        );
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        anyhow::anyhow!("the prompt is not valid UTF-8 (at byte {}); convert it first", at + 1)
    })
}
