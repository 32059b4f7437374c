//! Signals from whoever sits at the terminal or manages processes.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// The first Ctrl-C: end at the next safe point.
    Cancel,
    /// Every other: interrupt what runs.
    Abort,
    /// This process is to end.
    Terminate,
    /// The terminal is gone.
    HangUp,
}

/// Signals, listened for from the beginning.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// Nothing where the one who started us wants it ignored, as `nohup` does.
    hangup: Option<Signal>,
    interrupts: u32,
}

impl Signals {
    pub(super) fn new() -> anyhow::Result<Self> {
        let hangup = match ignores_hangups() {
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

    /// Whether Ctrl-C was pressed.
    pub(super) fn was_interrupted(&self) -> bool {
        self.interrupts > 0
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> Sign {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => return Sign::Terminate,
            _ = hangup => return Sign::HangUp,
        }
        self.interrupts = self.interrupts.saturating_add(1);
        if self.interrupts == 1 { Sign::Cancel } else { Sign::Abort }
    }
}

/// Tells when the process was stopped and goes on, as with Ctrl-Z and `fg`.
pub(super) fn resumed() -> anyhow::Result<Signal> {
    Ok(signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?)
}

/// Whether this process was started with SIGHUP, the first of all signals, ignored.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}
