//! The modes of the terminal while a session draws: keys arrive one by one, pastes are marked. They
//! are restored when the session ends, after a panic, and at the next start after `kill -9`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, Termios, tcgetattr, tcsetattr,
};
use serde::{Deserialize, Serialize};
use windlass::core::message::raw_json::sha256_hex;

use crate::config::paths;

/// Switches bracketed paste on, and asks for keys that can be told apart.
const ENTER: &str = "\x1b[?2004h";

/// Undoes it, and shows the cursor.
const LEAVE: &str = "\x1b[?2004l\x1b[?25h\x1b[0m";

/// The text of a panic, which is printed once the terminal is restored.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// The modes of a terminal, in a file: they are found there if the process was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SavedModes {
    input: u32,
    output: u32,
    local: u32,
}

impl SavedModes {
    fn of(modes: &Termios) -> Self {
        Self {
            input: modes.input_modes.bits(),
            output: modes.output_modes.bits(),
            local: modes.local_modes.bits(),
        }
    }

    fn apply_to(&self, modes: &mut Termios) {
        modes.input_modes = InputModes::from_bits_retain(self.input);
        modes.output_modes = OutputModes::from_bits_retain(self.output);
        modes.local_modes = LocalModes::from_bits_retain(self.local);
    }
}

/// The session's modes, until this is dropped.
pub(super) struct SessionModes {
    saved: Termios,
    file: Option<PathBuf>,
}

impl SessionModes {
    /// Takes the terminal.
    pub(super) fn enter() -> io::Result<Self> {
        let mut modes = tcgetattr(io::stdin())?;
        let file = modes_file();
        if let Some(left) = file.as_ref().and_then(read_modes)
            && !modes.local_modes.contains(LocalModes::ICANON)
        {
            // A session that was killed left its modes behind.
            left.apply_to(&mut modes);
        }
        if let Some(file) = &file {
            let text = serde_json::to_vec(&SavedModes::of(&modes)).unwrap_or_default();
            let folder = file.parent().map(PathBuf::from).unwrap_or_default();
            let _ = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, text));
        }
        keep_panic_text();
        let entered = Self { saved: modes, file };
        entered.resume()?;
        Ok(entered)
    }

    /// Takes the terminal again, after another program had it.
    pub(super) fn resume(&self) -> io::Result<()> {
        let mut modes = self.saved.clone();
        modes.make_raw();
        // Text of other threads still gets its carriage returns.
        modes.output_modes = self.saved.output_modes;
        tcsetattr(io::stdin(), OptionalActions::Now, &modes)?;
        write_now(ENTER)
    }

    /// Leaves the terminal to another program.
    pub(super) fn pause(&self) {
        let _ = write_now(LEAVE);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.saved);
    }
}

impl Drop for SessionModes {
    fn drop(&mut self) {
        self.pause();
        if let Some(file) = &self.file {
            let _ = std::fs::remove_file(file);
        }
        drop(std::panic::take_hook());
        if let Some(text) = take_panic_text() {
            let _ = writeln!(io::stderr(), "\n{text}");
        }
    }
}

/// Keeps the text of a panic: printed at once, it would be drawn over. A panic of a tool is caught,
/// and the session goes on.
fn keep_panic_text() {
    std::panic::set_hook(Box::new(|panic| {
        PANIC.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic.to_string());
    }));
}

/// The text of a panic that happened.
pub(super) fn take_panic_text() -> Option<String> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn write_now(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// One file for each terminal.
fn modes_file() -> Option<PathBuf> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new()).ok()?;
    let hash = sha256_hex(name.as_bytes());
    let folder = paths::state_folder().ok()?.join("terminals");
    Some(folder.join(hash.get(..16).unwrap_or(&hash)))
}

fn read_modes(file: &PathBuf) -> Option<SavedModes> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}
