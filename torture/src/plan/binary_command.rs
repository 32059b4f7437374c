//! Command lines for the binary.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::args::BrokenPromise;
use crate::plan::conversation_plan::ConversationPlan;
use crate::plan::mcp_ledger;
use crate::plan::script::{self, TransientFailure};
use crate::process::child::ProcessSpec;
use crate::work_folder::ConversationFolder;

/// The interval of heartbeats, and the lease: how long they must be missing before a process counts
/// as dead.
const HEARTBEAT_MS: u64 = 60;
pub(crate) const LEASE_MS: u64 = 200;

/// A lease so long that a takeover before its expiry is certainly a violation.
const LONG_LEASE_MS: u64 = 2_000;

/// One command of the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryCommand {
    /// Sends the prompt.
    Send,
    /// Resumes the conversation.
    Resume,
    /// Answers a question about an interrupted call.
    Answer { question: u64, truth: EffectTruth },
    /// Decides everything again and compares.
    Replay,
}

/// What happened to an interrupted call, by the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EffectTruth {
    Happened,
    DidNotHappen,
}

/// The binary under test and how it is started.
#[derive(Debug, Clone)]
pub(crate) struct TestedBinary {
    pub(crate) program: PathBuf,
    pub(crate) broken: Option<BrokenPromise>,
}

impl TestedBinary {
    /// The lease: how long heartbeats must be missing before a takeover.
    pub(crate) fn lease_ms(&self) -> u64 {
        if self.broken == Some(BrokenPromise::Lease) { LONG_LEASE_MS } else { LEASE_MS }
    }

    /// The process for `command`. A process with a transient failure has a script of its own.
    pub(crate) fn to_process_spec(
        &self,
        command: BinaryCommand,
        plan: &ConversationPlan,
        place: &ConversationFolder,
        stumble: Option<TransientFailure>,
    ) -> Result<ProcessSpec> {
        let mut arguments = command_words(command, &plan.conversation);
        arguments.extend(["--store".to_owned(), place.store.to_string()]);
        if command != BinaryCommand::Replay {
            let script = write_script(plan, place, stumble)?;
            arguments.extend(["--script".to_owned(), script.display().to_string()]);
            arguments.extend(["--workspace".to_owned(), place.work.display().to_string()]);
            arguments.extend(split_words("--allow Read --allow Bash --output-format json"));
            // The ledger of effects lies outside of the workspace, and commands go on after what a
            // server said, which a person would have to allow otherwise.
            arguments.extend(split_words("--sandbox off --permission-mode bypassPermissions"));
            if plan.uses_mcp() {
                let config = mcp_ledger::write_config(place)?.display().to_string();
                arguments.extend(["--mcp-config".to_owned(), config]);
                arguments.extend(split_words("--strict-mcp-config --allow mcp__ledger"));
            }
            arguments.extend(split_words(&format!(
                "--beat-ms {HEARTBEAT_MS} --lease-ms {}",
                self.lease_ms()
            )));
        }
        let broken = self.broken.map(|broken| ("WINDLASS_BREAK", broken.as_str().to_owned()));
        let may_bypass = ("IS_SANDBOX", "1".to_owned());
        Ok(ProcessSpec {
            program: self.program.clone(),
            arguments,
            variables: broken.into_iter().chain([may_bypass]).collect(),
            work: place.work.clone(),
            output: place.output.clone(),
        })
    }
}

/// Writes the script and returns its file. It is written once: another process may be reading it.
fn write_script(
    plan: &ConversationPlan,
    place: &ConversationFolder,
    stumble: Option<TransientFailure>,
) -> Result<PathBuf> {
    let name = stumble.map_or("script".to_owned(), |it| format!("script-{}-{:?}", it.step, it.how));
    let path = place.folder.join(name);
    if !path.exists() {
        fs::write(&path, script::render(plan, place.ledger.path(), stumble))
            .with_context(|| format!("the script {}", path.display()))?;
    }
    Ok(path)
}

fn command_words(command: BinaryCommand, conversation: &str) -> Vec<String> {
    match command {
        BinaryCommand::Send => split_words(&format!("-p go --conversation {conversation}")),
        BinaryCommand::Resume => split_words(&format!("resume {conversation}")),
        BinaryCommand::Answer { question, truth: EffectTruth::Happened } => {
            split_words(&format!("answer {conversation} {question} mark-done"))
        }
        BinaryCommand::Answer { question, truth: EffectTruth::DidNotHappen } => {
            split_words(&format!("answer {conversation} {question} retry"))
        }
        BinaryCommand::Replay => split_words(&format!("replay {conversation}")),
    }
}

fn split_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
