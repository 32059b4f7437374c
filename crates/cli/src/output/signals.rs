//! Signals: Ctrl-C, SIGTERM, SIGHUP, SIGCONT.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The action that a signal requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// The first Ctrl-C: cancel at the next safe point.
    Cancel,
    /// Every further Ctrl-C: interrupt running calls.
    Abort,
    /// SIGTERM: this process should end.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

/// Signal handlers, installed at the start.
pub(crate) struct SignalListener {
    interrupt: Signal,
    terminate: Signal,
    /// SIGHUP; `None` if the parent process wants it ignored, as `nohup` does.
    hangup: Option<Signal>,
    interrupts: u32,
}

impl SignalListener {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let hangup = match is_hangup_ignored() {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
            interrupts: 0,
        })
    }

    /// Returns whether Ctrl-C was pressed.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupts > 0
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> SignalAction {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => return SignalAction::Terminate,
            _ = hangup => return SignalAction::HangUp,
        }
        self.interrupts = self.interrupts.saturating_add(1);
        if self.interrupts == 1 { SignalAction::Cancel } else { SignalAction::Abort }
    }
}

/// Listens for SIGCONT: the process was stopped and continues, as with Ctrl-Z and `fg`.
pub(super) fn listen_for_continue() -> anyhow::Result<Signal> {
    Ok(signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?)
}

/// Returns whether this process was started with SIGHUP (signal 1) ignored.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}
