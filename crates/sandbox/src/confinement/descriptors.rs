//! Descriptors of the helper: the control stream, messages, standard streams.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::MAX_MESSAGE_BYTES;

/// Takes over a descriptor that the parent process left open for this one.
#[expect(unsafe_code, reason = "the number of a descriptor is all that crosses exec")]
pub(super) fn take_inherited(descriptor: RawFd) -> io::Result<File> {
    // SAFETY: fcntl with F_GETFD only fails if there is no such descriptor.
    if descriptor <= 2 || unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } != 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the launcher made the descriptor for this process, and nothing else here uses it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

/// Keeps every descriptor but the standard streams from the program: what this process was started
/// with by others, such as an open file of a shell, is not the program's either.
#[expect(unsafe_code, reason = "descriptors of others have no owner here")]
pub(super) fn close_others_on_exec() -> io::Result<()> {
    // SAFETY: no descriptor is closed; they only get the flag that closes them on exec.
    let done = unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    if done == 0 {
        return Ok(());
    }
    // Kernels before 5.11.
    for entry in std::fs::read_dir("/proc/self/fd")?.flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        if let Some(number) = number.filter(|number| *number > 2) {
            // SAFETY: as above; a number that is not open any more is an error without effect.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Replaces standard input, output and error, so that only the program holds the caller's pipes.
#[expect(unsafe_code, reason = "dup2 onto a standard stream has no owned descriptor")]
pub(super) fn detach_standard_streams() -> io::Result<()> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    for stream in 0..=2 {
        // SAFETY: dup2 closes and replaces a standard stream, which nothing here owns.
        if unsafe { libc::dup2(null.as_raw_fd(), stream) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Writes a message.
pub(super) fn write_message(mut to: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads a message; `None` at the end of the stream.
pub(super) fn read_message<T: DeserializeOwned>(
    from: &mut BufReader<impl Read>,
) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    from.by_ref().take(MAX_MESSAGE_BYTES).read_until(b'\n', &mut line)?;
    match line.is_empty() {
        true => Ok(None),
        false => Ok(Some(serde_json::from_slice(&line)?)),
    }
}

/// Returns a pipe that no program inherits.
pub(super) fn private_pipe() -> io::Result<(File, File)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((File::from(read), File::from(write)))
}

/// Waits until one of the descriptors can be read or has been closed at its other end. Returns for
/// each whether that is so.
pub(super) fn wait_readable<const N: usize>(
    descriptors: [&dyn AsFdRef; N],
    timeout_ms: Option<u32>,
) -> io::Result<[bool; N]> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = descriptors.map(|fd| PollFd::from_borrowed_fd(fd.borrow(), PollFlags::IN));
    let timeout = timeout_ms.map(|ms| Timespec {
        tv_sec: i64::from(ms / 1_000),
        tv_nsec: i64::from(ms % 1_000) * 1_000_000,
    });
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(polled.map(|fd| !fd.revents().is_empty()))
}

/// A descriptor of any type.
pub(super) trait AsFdRef {
    /// Borrows the descriptor.
    fn borrow(&self) -> std::os::fd::BorrowedFd<'_>;
}

impl<T: AsFd> AsFdRef for T {
    fn borrow(&self) -> std::os::fd::BorrowedFd<'_> {
        self.as_fd()
    }
}
