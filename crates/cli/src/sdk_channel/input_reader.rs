//! Standard input, line by line. A thread of its own reads and parses it, so that a large line
//! delays nothing else and a blocked read does not keep the process from ending.

use std::io::{self, BufRead, Read};

use tokio::sync::mpsc;

use super::incoming::{Incoming, InvalidLine};

#[cfg(test)]
#[path = "input_reader_tests.rs"]
mod input_reader_tests;

/// Maximum size of one line in bytes. Agent definitions and tool results can be large.
const MAX_LINE_BYTES: usize = 64 << 20;

/// Number of messages that are parsed ahead of the loop.
const READ_AHEAD: usize = 16;

/// Why standard input cannot be read any further.
#[derive(Debug, thiserror::Error)]
pub(super) enum InputError {
    #[error(
        "a line on standard input is longer than {MAX_LINE_BYTES} bytes; split the message, or pass large \
         content as a file"
    )]
    TooLong,
    #[error("cannot read standard input: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Invalid(#[from] InvalidLine),
    #[error(
        "more than {0} messages on standard input wait to be handled; read the output meanwhile"
    )]
    TooMany(usize),
}

/// The messages on standard input. `None` is the end of the input.
pub(super) struct InputReader {
    messages: mpsc::Receiver<Result<Incoming, InputError>>,
}

impl InputReader {
    /// Starts to read standard input.
    pub(super) fn start() -> Self {
        Self::start_with(|| io::BufReader::with_capacity(64 << 10, io::stdin()))
    }

    fn start_with<R: BufRead>(open: impl FnOnce() -> R + Send + 'static) -> Self {
        let (sender, messages) = mpsc::channel(READ_AHEAD);
        std::thread::spawn(move || read_messages(&mut open(), &sender));
        Self { messages }
    }

    /// Returns the next message; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Result<Option<Incoming>, InputError> {
        self.messages.recv().await.transpose()
    }
}

/// Reads until the end of the input, the first error, or until no one wants to know.
fn read_messages(input: &mut impl BufRead, sender: &mpsc::Sender<Result<Incoming, InputError>>) {
    loop {
        let message = match read_line(input) {
            Ok(None) => return,
            Ok(Some(line)) => Incoming::parse(&line).map_err(InputError::from),
            Err(error) => Err(error),
        };
        let is_error = message.is_err();
        if matches!(message, Ok(Incoming::Nothing)) {
            continue;
        }
        if sender.blocking_send(message).is_err() || is_error {
            return;
        }
    }
}

/// Reads one line without its end; the last one need not have an end.
fn read_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, InputError> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = input.take(limit).read_until(b'\n', &mut line)?;
    match (read, line.last()) {
        (0, _) => Ok(None),
        (_, Some(b'\n')) => {
            line.pop();
            Ok(Some(line))
        }
        _ if line.len() > MAX_LINE_BYTES => Err(InputError::TooLong),
        _ => Ok(Some(line)),
    }
}
