//! Reads from the terminal and writes to it.

use std::io::Write;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::unix::AsyncFd;

/// Bytes of input that are read at once.
const INPUT_BYTES: usize = 64 << 10;

/// Reads what was typed; `None` at the end of the input.
pub(super) async fn read_input(input: &AsyncFd<std::io::Stdin>) -> anyhow::Result<Option<Vec<u8>>> {
    loop {
        let mut guard = input.readable().await?;
        if !has_input(input.get_ref()) {
            guard.clear_ready();
            continue;
        }
        let mut buffer = vec![0; INPUT_BYTES];
        // The terminal has something to read, so this does not block.
        let read = rustix::io::read(input.get_ref(), &mut buffer);
        // Readiness is told once: it stays noted while there is more.
        guard.retain_ready();
        return match read {
            Ok(0) | Err(rustix::io::Errno::IO) => Ok(None),
            Ok(length) => {
                buffer.truncate(length);
                Ok(Some(buffer))
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(Some(Vec::new())),
            Err(error) => Err(error.into()),
        };
    }
}

fn has_input(input: &std::io::Stdin) -> bool {
    let mut asked = [PollFd::new(input, PollFlags::IN)];
    poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Writes to the terminal.
pub(super) fn write_out(text: &str) -> anyhow::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
}
