//! Live output and progress of a tool call: what a call reports while it is still running.
//!
//! Reports are joined until the runtime takes them: of the output only the tail is kept, of the
//! steps only the last. So a call that reports faster than anyone reads costs bounded memory and is
//! never delayed. Nothing here is recorded; the result of a call has to contain what matters.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

#[cfg(test)]
#[path = "call_progress_tests.rs"]
mod call_progress_tests;

/// Maximum bytes of output that wait for a reader; of more, the tail is kept.
pub const MAX_LIVE_OUTPUT_BYTES: usize = 16 * 1024;

/// Maximum characters of the text of a step.
const MAX_STEP_CHARS: usize = 500;

/// The reporter of a tool call. Clones report for the same call; reporting never waits.
#[derive(Debug, Clone, Default)]
pub struct ProgressReporter(Arc<ReporterState>);

#[derive(Debug, Default)]
struct ReporterState {
    pending: Mutex<PendingProgress>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct PendingProgress {
    output: Vec<u8>,
    omitted_bytes: u64,
    step: Option<ProgressStep>,
}

/// What a call has reported since the last report was taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallProgress {
    /// What the call printed; its tail, if there was much.
    pub output: Arc<str>,
    /// The number of bytes before `output` that were left out.
    pub omitted_bytes: u64,
    /// The last step that the call reported.
    pub step: Option<ProgressStep>,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressStep {
    /// How much is done, in units of the tool.
    pub done: f64,
    /// How much there is to do, if the tool knows.
    pub total: Option<f64>,
    /// What the call does now.
    pub text: Option<Arc<str>>,
}

/// The numbers are never NaN, see [`ProgressReporter::report_step`].
impl Eq for ProgressStep {}

impl ProgressReporter {
    /// Reports output that the call has just printed. Bytes that are not UTF-8 are replaced; a
    /// character may be split between two reports.
    pub fn report_output(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.lock().push_output(bytes);
        self.0.changed.notify_one();
    }

    /// Reports how far the call is. A number that is not finite is left out.
    pub fn report_step(&self, done: f64, total: Option<f64>, text: Option<&str>) {
        if !done.is_finite() {
            return;
        }
        let text = text.map(|text| text.chars().take(MAX_STEP_CHARS).collect::<String>().into());
        let total = total.filter(|total| total.is_finite());
        self.lock().step = Some(ProgressStep { done, total, text });
        self.0.changed.notify_one();
    }

    /// Waits until there may be something to take.
    pub(crate) async fn wait_for_report(&self) {
        self.0.changed.notified().await;
    }

    /// Takes what was reported; `None` if there is nothing.
    pub(crate) fn take_report(&self) -> Option<CallProgress> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, PendingProgress> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingProgress {
    fn push_output(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(MAX_LIVE_OUTPUT_BYTES);
        let kept = bytes.get(skipped..).unwrap_or_default();
        let excess = (self.output.len() + kept.len()).saturating_sub(MAX_LIVE_OUTPUT_BYTES);
        self.output.drain(..excess.min(self.output.len()));
        self.output.extend_from_slice(kept);
        self.omitted_bytes = self.omitted_bytes.saturating_add((skipped + excess) as u64);
    }

    fn take(&mut self) -> Option<CallProgress> {
        let step = self.step.take();
        let bytes = std::mem::take(&mut self.output);
        let (whole, torn) = split_torn_end(&bytes);
        self.output = torn.to_vec();
        let whole = match self.omitted_bytes {
            0 => whole,
            _ => without_torn_start(whole),
        };
        if whole.is_empty() && step.is_none() {
            return None;
        }
        let output = Arc::from(String::from_utf8_lossy(whole));
        let omitted_bytes = std::mem::take(&mut self.omitted_bytes);
        Some(CallProgress { output, omitted_bytes, step })
    }
}

/// Splits off an incomplete character at the end, whose rest may follow.
fn split_torn_end(bytes: &[u8]) -> (&[u8], &[u8]) {
    let torn = match bytes.utf8_chunks().last() {
        Some(last) if is_torn(last.invalid()) => last.invalid().len(),
        Some(_) | None => 0,
    };
    bytes.split_at_checked(bytes.len() - torn).unwrap_or((bytes, &[]))
}

/// Returns whether the bytes begin a character that needs more of them.
fn is_torn(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Removes an incomplete character at the start: at most three continuation bytes.
fn without_torn_start(bytes: &[u8]) -> &[u8] {
    let torn = bytes.iter().take(3).take_while(|byte| (0x80..0xc0).contains(*byte)).count();
    bytes.get(torn..).unwrap_or_default()
}
