//! Writes the transcript of a conversation while it goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use windlass::Session;
use windlass::core::log::entry::Entry;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::{ModelSpec, Settings};
use windlass::messages::{
    Message, MessageObserver, MessageOptions, MessageProjection, SystemEvent, TranscriptContext,
    TranscriptProjection,
};

use super::sdk_transcripts;
use super::transcript_files::TranscriptFiles;
use crate::sdk;
use crate::terminal::print_note;

/// Gets every line that is written, with the file it is written to.
pub(crate) type TranscriptMirror = Box<dyn FnMut(&Path, Vec<Value>) + Send>;

/// Writes the transcript of one conversation and of its sub-agents. Clones write the same files.
#[derive(Clone)]
pub(crate) struct TranscriptRecorder {
    state: Arc<Mutex<RecorderState>>,
}

struct RecorderState {
    files: TranscriptFiles,
    context: TranscriptContext,
    main: TranscriptFile,
    agents: BTreeMap<String, TranscriptFile>,
    mirror: Option<TranscriptMirror>,
    /// Whether it was noted where the transcript is.
    is_noted: bool,
    /// Whether a failure to write was reported; one report is enough.
    has_failed: bool,
}

/// A file that is being written.
struct TranscriptFile {
    path: PathBuf,
    projection: TranscriptProjection,
    written: BTreeSet<String>,
}

impl TranscriptRecorder {
    /// Opens the transcript of a conversation, and writes what is in the log and not in the file.
    pub(crate) async fn open(
        session: &Session,
        workspace: &Path,
        mirror: Option<TranscriptMirror>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(files) = TranscriptFiles::of_conversation(workspace, session.lane()) else {
            return Ok(None);
        };
        let context = transcript_context(workspace);
        let Ok(main) = TranscriptFile::open(files.main_file(), &context) else { return Ok(None) };
        let agents = BTreeMap::new();
        let (is_noted, has_failed) = (false, false);
        let state = RecorderState { files, context, main, agents, mirror, is_noted, has_failed };
        let recorder = Self { state: Arc::new(Mutex::new(state)) };
        let log = session.read_log().await?;
        recorder.write_log(session, &log);
        Ok(Some(recorder))
    }

    /// Returns an observer that writes what a reader of the conversation sees.
    pub(crate) fn observer(&self) -> MessageObserver {
        let recorder = self.clone();
        Box::new(move |message| recorder.lock().record(message))
    }

    fn write_log(&self, session: &Session, log: &[Entry]) {
        let settings = Settings::new(ModelSpec::with_defaults(""));
        let options = MessageOptions::default().to_projection();
        let (lane, before) = (session.lane(), Conversation::default());
        let mut projection = MessageProjection::new(lane, before, &settings, options);
        for entry in log {
            for message in projection.on_entry(entry) {
                self.lock().record(&message);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecorderState {
    fn record(&mut self, message: &Message) {
        if let Err(error) = self.write(message)
            && !std::mem::replace(&mut self.has_failed, true)
        {
            let path = self.main.path.display();
            print_note(&format!("windlass: cannot write the transcript {path} ({error})"));
        }
    }

    fn write(&mut self, message: &Message) -> std::io::Result<()> {
        if let Message::System(system) = message
            && let SystemEvent::TaskStarted { .. } = &system.event
        {
            return self.write_agent_metadata(&system.event);
        }
        let agent = match message {
            Message::Assistant(message) => message.agent_id.clone(),
            Message::User(message) => message.agent_id.clone(),
            _ => None,
        };
        let file = match agent {
            None => &mut self.main,
            Some(agent) => {
                let path = self.files.agent_file(&agent);
                match self.agents.entry(agent) {
                    std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
                    std::collections::btree_map::Entry::Vacant(new) => {
                        new.insert(TranscriptFile::open(path, &self.context)?)
                    }
                }
            }
        };
        let lines = file.new_lines(message);
        if lines.is_empty() {
            return Ok(());
        }
        let path = file.path.clone();
        TranscriptFiles::append(&path, &lines)?;
        self.mirror_lines(&path, lines);
        if !std::mem::replace(&mut self.is_noted, true) {
            sdk_transcripts::note_transcript(self.files.session_id(), &self.main.path)?;
        }
        Ok(())
    }

    /// Writes what a program that lists sub-agents wants to know about one.
    fn write_agent_metadata(&mut self, event: &SystemEvent) -> std::io::Result<()> {
        let SystemEvent::TaskStarted { task_id, description, tool_use_id, subagent_type, .. } =
            event
        else {
            return Ok(());
        };
        let path = self.files.agent_file(task_id);
        let meta_path = path.with_extension("meta.json");
        if meta_path.exists() {
            return Ok(());
        }
        let meta = json!({
            "agentType": subagent_type, "description": description, "toolUseId": tool_use_id,
            "isBuiltIn": false, "spawnDepth": 1,
        });
        TranscriptFiles::append(&meta_path, std::slice::from_ref(&meta))?;
        let mut line = meta;
        if let Value::Object(fields) = &mut line {
            fields.insert("type".to_owned(), Value::from("agent_metadata"));
        }
        self.mirror_lines(&path, vec![line]);
        Ok(())
    }

    fn mirror_lines(&mut self, path: &Path, lines: Vec<Value>) {
        if let Some(mirror) = &mut self.mirror {
            mirror(path, lines);
        }
    }
}

impl TranscriptFile {
    fn open(path: PathBuf, context: &TranscriptContext) -> std::io::Result<Self> {
        let written = TranscriptFiles::read_written(&path)?;
        let projection = TranscriptProjection::new(context.clone()).after(written.leaf);
        Ok(Self { path, projection, written: written.uuids })
    }

    /// The lines of a message, unless the file has it already.
    fn new_lines(&mut self, message: &Message) -> Vec<Value> {
        let uuid = match message {
            Message::Assistant(message) => &message.uuid,
            Message::User(message) => &message.uuid,
            Message::System(message) => &message.uuid,
            _ => return Vec::new(),
        };
        if self.written.contains(uuid) {
            self.projection.skip(message);
            return Vec::new();
        }
        let lines = self.projection.lines(message);
        if !lines.is_empty() {
            self.written.insert(uuid.clone());
        }
        lines
    }
}

fn transcript_context(workspace: &Path) -> TranscriptContext {
    TranscriptContext {
        cwd: workspace.display().to_string(),
        version: sdk::PROTOCOL_VERSION.to_owned(),
        git_branch: git_branch(workspace).unwrap_or_default(),
        entrypoint: std::env::var("CLAUDE_CODE_ENTRYPOINT").unwrap_or_else(|_| "cli".to_owned()),
    }
}

/// The branch that the workspace is on, from the file that names it.
fn git_branch(workspace: &Path) -> Option<String> {
    let repository = workspace.ancestors().find(|folder| folder.join(".git").is_dir())?;
    let head = std::fs::read_to_string(repository.join(".git/HEAD")).ok()?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}
