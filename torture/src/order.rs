//! What the binary is told to do, as command lines.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::args::Break;
use crate::child::Invocation;
use crate::ground::Place;
use crate::plan::Plan;
use crate::script::{self, Stumble};

/// Signs of life come this often, and silence counts as death after so long.
const BEAT_MS: u64 = 60;
pub(crate) const LEASE_MS: u64 = 200;

/// A lease so long that whoever breaks it is seen to come too early, however slowly it starts.
const LONG_LEASE_MS: u64 = 2_000;

/// One command of the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Send the prompt.
    Send,
    /// Go on.
    Resume,
    /// Answer a question about an interrupted call.
    Answer { question: u64, truth: Truth },
    /// Decide everything again and compare.
    Replay,
}

/// What became of an interrupted call, by the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    Happened,
    DidNotHappen,
}

/// The binary and how it is to be started.
#[derive(Debug, Clone)]
pub(crate) struct Binary {
    pub(crate) program: PathBuf,
    pub(crate) broken: Option<Break>,
}

impl Binary {
    /// How long silence has to last.
    pub(crate) fn lease_ms(&self) -> u64 {
        if self.broken == Some(Break::Lease) { LONG_LEASE_MS } else { LEASE_MS }
    }

    /// The command line of `order`. A process with a stumble has a script of its own.
    pub(crate) fn invocation(
        &self,
        order: Order,
        plan: &Plan,
        place: &Place,
        stumble: Option<Stumble>,
    ) -> Result<Invocation> {
        let mut arguments = verb(order, &plan.conversation);
        arguments.extend(["--store".to_owned(), place.store.to_string()]);
        if order != Order::Replay {
            let script = script(plan, place, stumble)?;
            arguments.extend(["--script".to_owned(), script.display().to_string()]);
            arguments.extend(["--workspace".to_owned(), place.work.display().to_string()]);
            arguments.extend(words("--allow Read --allow Bash --output-format json"));
            arguments.extend(words(&format!("--beat-ms {BEAT_MS} --lease-ms {}", self.lease_ms())));
        }
        let broken = self.broken.map(|broken| ("WINDLASS_BREAK", broken.name().to_owned()));
        Ok(Invocation {
            program: self.program.clone(),
            arguments,
            variables: broken.into_iter().collect(),
            work: place.work.clone(),
            output: place.output.clone(),
        })
    }
}

/// The file with the script. It is written once: another process may be reading it.
fn script(plan: &Plan, place: &Place, stumble: Option<Stumble>) -> Result<PathBuf> {
    let name = stumble.map_or("script".to_owned(), |it| format!("script-{}-{:?}", it.step, it.how));
    let path = place.folder.join(name);
    if !path.exists() {
        fs::write(&path, script::render(plan, place.ledger.path(), stumble))
            .with_context(|| format!("the script {}", path.display()))?;
    }
    Ok(path)
}

fn verb(order: Order, conversation: &str) -> Vec<String> {
    match order {
        Order::Send => words(&format!("-p go --conversation {conversation}")),
        Order::Resume => words(&format!("resume {conversation}")),
        Order::Answer { question, truth: Truth::Happened } => {
            words(&format!("answer {conversation} {question} mark-done"))
        }
        Order::Answer { question, truth: Truth::DidNotHappen } => {
            words(&format!("answer {conversation} {question} retry"))
        }
        Order::Replay => words(&format!("replay {conversation}")),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}
