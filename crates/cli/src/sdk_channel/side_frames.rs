//! Frames about things beside the turns: messages of hooks, and notes that would be printed on a
//! terminal. They are queued and written by the loop, after the init frame of a turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use windlass::messages::{HookRun, SystemEvent};
use windlass::tools::{HookReport, HookRunLabel};

use crate::setup::{self, HookReportSink};
use crate::terminal;

/// Maximum number of events that wait; the oldest are dropped.
const MAX_WAITING: usize = 1_000;

/// Events that wait for the loop. Clones share the queue.
#[derive(Clone, Default)]
pub(super) struct SideEvents {
    queue: Arc<Mutex<VecDeque<SystemEvent>>>,
    arrived: Arc<Notify>,
}

/// Whether readers want messages about commands that are hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookEvents {
    Included,
    LeftOut,
}

impl SideEvents {
    pub(super) fn push(&self, event: SystemEvent) {
        let mut queue = self.lock();
        if queue.len() >= MAX_WAITING {
            queue.pop_front();
        }
        queue.push_back(event);
        drop(queue);
        self.arrived.notify_one();
    }

    /// Takes the next event, if there is one.
    pub(super) fn take(&self) -> Option<SystemEvent> {
        self.lock().pop_front()
    }

    /// Waits until there is an event.
    pub(super) async fn wait(&self) {
        while self.lock().is_empty() {
            self.arrived.notified().await;
        }
    }

    /// Makes notes events: standard error stays empty.
    pub(super) fn collect_notes(&self) {
        let events = self.clone();
        terminal::redirect_notes(move |text| events.push(informational(text, "notice")));
    }

    /// Makes events of reports about hooks.
    pub(super) fn hook_reports(&self, included: HookEvents) -> HookReportSink {
        let events = self.clone();
        let process = setup::new_id();
        Arc::new(move |report| {
            if included == HookEvents::Included {
                events.push(hook_event(&report, &process));
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<SystemEvent>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hook_event(report: &HookReport<'_>, process: &str) -> SystemEvent {
    let hook = |run: &HookRunLabel| HookRun {
        hook_id: format!("{process}-{}", run.number),
        hook_name: run.label.clone(),
        hook_event: run.event.to_owned(),
    };
    match report {
        HookReport::Started { hook: run } => SystemEvent::HookStarted { hook: hook(run) },
        HookReport::Returned { hook: run, stdout, stderr, exit_code } => {
            SystemEvent::HookResponse {
                hook: hook(run),
                output: format!("{stdout}{stderr}"),
                stdout: (*stdout).to_owned(),
                stderr: (*stderr).to_owned(),
                exit_code: *exit_code,
                outcome: outcome_name(*exit_code).to_owned(),
            }
        }
    }
}

fn outcome_name(exit_code: Option<i32>) -> &'static str {
    match exit_code {
        Some(0) => "success",
        Some(_) => "error",
        None => "cancelled",
    }
}

/// A message that a person may want to read.
pub(super) fn informational(content: &str, level: &str) -> SystemEvent {
    SystemEvent::Informational {
        content: content.to_owned(),
        level: level.to_owned(),
        tool_use_id: None,
        prevent_continuation: false,
    }
}
