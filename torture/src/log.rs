//! What a log says, read from its JSON and not through the product's own fold.

use serde_json::Value;

use crate::store::{Lane, Row};

/// A tool call: which model call made it, and with which block of its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CallId {
    pub(crate) ask: u64,
    pub(crate) index: u64,
}

/// A question to a human.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) id: u64,
    pub(crate) about: About,
}

/// What a question is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum About {
    /// What became of an interrupted call.
    Uncertain(CallId),
    /// Anything else, by its name.
    Other(String),
}

/// Where a conversation stands, as far as the next command is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Somebody has to go on with it.
    Open,
    /// It waits for an answer.
    Asks(Question),
    /// It has its terminal record.
    Finished,
}

/// A record: its entry, its tag, what it holds.
pub(crate) type Record<'l> = (&'l Row, &'l str, &'l Value);

impl Lane {
    pub(crate) fn standing(&self) -> Standing {
        if self.with_tag("finished/1").next().is_some() {
            return Standing::Finished;
        }
        match self.open_questions().into_iter().next() {
            Some(question) if self.waiting_mail == 0 => Standing::Asks(question),
            Some(_) | None => Standing::Open,
        }
    }

    /// Every record, in order.
    pub(crate) fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.entries.iter().flat_map(|row| {
            let records = row.body.get("records").and_then(Value::as_array);
            let tagged = records.into_iter().flatten().filter_map(tagged);
            tagged.map(move |(tag, value)| (row, tag, value))
        })
    }

    /// Records of one kind.
    pub(crate) fn with_tag<'l>(&'l self, wanted: &'l str) -> impl Iterator<Item = Record<'l>> {
        self.records().filter(move |(_, tag, _)| *tag == wanted)
    }

    /// Every question that was ever asked.
    pub(crate) fn questions(&self) -> Vec<Question> {
        let asked = self.with_tag("questioned/1");
        asked.filter_map(|(_, _, value)| question(value.get("question")?)).collect()
    }

    fn open_questions(&self) -> Vec<Question> {
        let answered = self.answered();
        let mut questions = self.questions();
        questions.retain(|question| !answered.contains(&question.id));
        questions
    }

    /// Questions whose answer was taken.
    fn answered(&self) -> Vec<u64> {
        let taken = self.with_tag("answered/1");
        taken.filter_map(|(row, _, value)| answered_by(row, value.get("mail")?.as_u64()?)).collect()
    }

    /// What a call was to do: its block of the reply, as JSON.
    pub(crate) fn call(&self, id: CallId) -> Option<&Value> {
        let mut replies = self.entries.iter().filter_map(|row| input(row, "replied/1"));
        let reply = replies.find(|reply| number(reply, "ask") == Some(id.ask))?;
        reply.get("reply")?.get("blocks")?.get(usize::try_from(id.index).ok()?)
    }
}

/// The call a record is about.
pub(crate) fn call_of(value: &Value) -> Option<CallId> {
    let call = value.get("call")?;
    Some(CallId { ask: number(call, "ask")?, index: number(call, "index")? })
}

pub(crate) fn number(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

fn input<'l>(row: &'l Row, tag: &str) -> Option<&'l Value> {
    row.body.get("input")?.get(tag)
}

fn tagged(value: &Value) -> Option<(&str, &Value)> {
    value.as_object()?.iter().next().map(|(tag, value)| (tag.as_str(), value))
}

fn question(value: &Value) -> Option<Question> {
    let id = number(value, "id")?;
    let (name, what) = tagged(value.get("about")?)?;
    let about = match (name, call_of(what)) {
        ("uncertain", Some(call)) => About::Uncertain(call),
        (name, _) => About::Other(name.to_owned()),
    };
    Some(Question { id, about })
}

/// The question that the mail read with this entry answers.
fn answered_by(row: &Row, mail: u64) -> Option<u64> {
    let read = input(row, "received/1")?.get("mail")?.as_array()?;
    let mail = read.iter().find(|read| number(read, "id") == Some(mail))?;
    number(mail.get("body")?.get("answer/1")?, "question")
}
