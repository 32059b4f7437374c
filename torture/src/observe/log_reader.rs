//! Reads a log from its JSON, and not through the product's own fold.

use serde_json::Value;

use crate::observe::store::{StoredEntry, StoredLane};

/// The id of a tool call: the model call that made it, and the block of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LoggedCallId {
    pub(crate) ask: u64,
    pub(crate) index: u64,
}

/// A question to a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoggedQuestion {
    pub(crate) id: u64,
    pub(crate) about: LoggedQuestionKind,
}

/// The kind of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoggedQuestionKind {
    /// About an interrupted call with an unknown outcome.
    Uncertain(LoggedCallId),
    /// Any other kind, by its name.
    Other(String),
}

/// The state of a conversation, as far as the next command is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LaneProgress {
    /// It must be continued.
    Open,
    /// It waits for an answer.
    NeedsAnswer(LoggedQuestion),
    /// It has its terminal record.
    Finished,
}

/// A record: its entry, its tag, its content.
pub(crate) type LoggedRecord<'l> = (&'l StoredEntry, &'l str, &'l Value);

impl StoredLane {
    pub(crate) fn lane_progress(&self) -> LaneProgress {
        if self.with_tag("run_finished/1").next().is_some() {
            return LaneProgress::Finished;
        }
        match self.open_questions().into_iter().next() {
            Some(question) if self.waiting_mail == 0 => LaneProgress::NeedsAnswer(question),
            Some(_) | None => LaneProgress::Open,
        }
    }

    /// Every record, in order.
    pub(crate) fn records(&self) -> impl Iterator<Item = LoggedRecord<'_>> {
        self.entries.iter().flat_map(|row| {
            let records = row.body.get("records").and_then(Value::as_array);
            let tagged = records.into_iter().flatten().filter_map(split_tag);
            tagged.map(move |(tag, value)| (row, tag, value))
        })
    }

    /// Records of one kind.
    pub(crate) fn with_tag<'l>(
        &'l self,
        wanted: &'l str,
    ) -> impl Iterator<Item = LoggedRecord<'l>> {
        self.records().filter(move |(_, tag, _)| *tag == wanted)
    }

    /// Every question of the log.
    pub(crate) fn questions(&self) -> Vec<LoggedQuestion> {
        let asked = self.with_tag("question_asked/1");
        asked.filter_map(|(_, _, value)| parse_question(value.get("question")?)).collect()
    }

    fn open_questions(&self) -> Vec<LoggedQuestion> {
        let answered = self.answered_ids();
        let mut questions = self.questions();
        questions.retain(|question| !answered.contains(&question.id));
        questions
    }

    /// The ids of questions whose answer was accepted.
    fn answered_ids(&self) -> Vec<u64> {
        let taken = self.with_tag("question_answered/1");
        taken
            .filter_map(|(row, _, value)| answered_question(row, value.get("message")?.as_u64()?))
            .collect()
    }

    /// The block of the reply that made the call, as JSON.
    pub(crate) fn find_call(&self, id: LoggedCallId) -> Option<&Value> {
        let mut replies = self.entries.iter().filter_map(|row| find_input(row, "model_replied/1"));
        let reply = replies.find(|reply| read_number(reply, "model_call") == Some(id.ask))?;
        reply.get("reply")?.get("blocks")?.get(usize::try_from(id.index).ok()?)
    }
}

/// The call that a record is about.
pub(crate) fn call_id_of(value: &Value) -> Option<LoggedCallId> {
    let call = value.get("call")?;
    Some(LoggedCallId { ask: read_number(call, "model_call")?, index: read_number(call, "index")? })
}

pub(crate) fn read_number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

fn find_input<'l>(row: &'l StoredEntry, tag: &str) -> Option<&'l Value> {
    row.body.get("input")?.get(tag)
}

fn split_tag(value: &Value) -> Option<(&str, &Value)> {
    value.as_object()?.iter().next().map(|(tag, value)| (tag.as_str(), value))
}

fn parse_question(value: &Value) -> Option<LoggedQuestion> {
    let id = read_number(value, "id")?;
    let (name, what) = split_tag(value.get("kind")?)?;
    let about = match (name, call_id_of(what)) {
        ("uncertain", Some(call)) => LoggedQuestionKind::Uncertain(call),
        (name, _) => LoggedQuestionKind::Other(name.to_owned()),
    };
    Some(LoggedQuestion { id, about })
}

/// The question that the inbox message read with this entry answers.
fn answered_question(row: &StoredEntry, mail: u64) -> Option<u64> {
    let read = find_input(row, "commands_received/1")?.get("messages")?.as_array()?;
    let mail = read.iter().find(|read| read_number(read, "id") == Some(mail))?;
    read_number(mail.get("body")?.get("answer/1")?, "question")
}
