//! A conversation as a person reads it: who said what, which calls were made, what came of them.

mod page;
mod words;

pub(crate) use page::page;

use std::sync::Arc;

use serde::Serialize;
use windlass::core::block::ErrorFlag;
use windlass::core::call::{Call, CallState};
use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, MailId, RunId, Seq};
use windlass::core::input::Input;
use windlass::core::mail::MailBody;
use windlass::core::record::Record;
use windlass::core::reply::Reply;
use windlass::core::run::Run;

use super::story::{Moment, Story};
use super::words as common;

/// Something that was said or happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Scene {
    /// The entry it stands in.
    pub(crate) entry: Seq,
    /// When.
    pub(crate) at_ms: u64,
    /// Which run it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<RunId>,
    /// What it is.
    pub(crate) kind: Kind,
    /// Which call it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<String>,
    /// Which tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<Arc<str>>,
    /// The words.
    pub(crate) text: String,
}

/// What a scene is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A person said it.
    Prompt,
    /// The model said it.
    Reply,
    /// The model asked for a tool.
    Call,
    /// A tool brought it.
    Result,
    /// A call failed, or did not run.
    Error,
    /// The runtime said it to the model.
    Note,
    /// A human was asked.
    Question,
    /// A human answered.
    Answer,
    /// Something happened.
    Event,
    /// The run ended.
    End,
}

/// The scenes of a story, or of one of its runs.
pub(crate) fn scenes(story: &Story, run: Option<&RunId>) -> Vec<Scene> {
    let mut scenes = Vec::new();
    story.walk(|moment| {
        let found = of(moment);
        let mine = found.into_iter().filter(|scene| run.is_none() || scene.run.as_ref() == run);
        scenes.extend(mine);
    });
    scenes
}

fn of(moment: Moment<'_>) -> Vec<Scene> {
    let one = |kind, text: Option<String>| {
        text.filter(|text| !text.trim().is_empty())
            .map(|text| scene(moment, kind, text))
            .into_iter()
            .collect()
    };
    match moment.record {
        Record::Queued { .. } => queued(moment),
        Record::Steered { .. } => one(Kind::Prompt, steer(moment.now)),
        Record::Answered { mail } => one(Kind::Answer, answer(&moment.entry.input, *mail)),
        Record::Replied { .. } => replied(moment),
        Record::RoundOpened { .. } => calls(moment),
        Record::Settled { call, .. } => settled(moment, *call).into_iter().collect(),
        Record::Noted { text } => one(Kind::Note, Some(text.to_string())),
        Record::Questioned { question } => {
            let asked = common::question(&question.about, moment.now);
            one(Kind::Question, Some(format!("question {}: {asked}", question.id)))
        }
        Record::Finished { cause, .. } => one(Kind::End, Some(words::ended(*cause))),
        _ => one(Kind::Event, words::event(moment)),
    }
}

fn scene(moment: Moment<'_>, kind: Kind, text: String) -> Scene {
    Scene {
        entry: moment.entry.seq,
        at_ms: moment.entry.at.0,
        run: moment.run().cloned(),
        kind,
        call: None,
        tool: None,
        text,
    }
}

/// A prompt belongs to the run it will be.
fn queued(moment: Moment<'_>) -> Vec<Scene> {
    let Some(queued) = moment.now.queue.back() else { return Vec::new() };
    let said = scene(moment, Kind::Prompt, common::blocks(&queued.blocks));
    vec![Scene { run: Some(queued.run.clone()), ..said }]
}

/// What the model said, and whether the output limit cut it.
fn replied(moment: Moment<'_>) -> Vec<Scene> {
    let text = reply(&moment.entry.input).map(Reply::text).filter(|text| !text.trim().is_empty());
    let said = text.map(|text| scene(moment, Kind::Reply, text));
    let cut = words::event(moment).map(|text| scene(moment, Kind::Event, text));
    said.into_iter().chain(cut).collect()
}

fn steer(now: &Conversation) -> Option<String> {
    Some(common::blocks(now.run.as_ref()?.steers.last()?))
}

/// The reply of an entry.
fn reply(input: &Input) -> Option<&Reply> {
    match input {
        Input::Replied { reply, .. } => Some(reply),
        _ => None,
    }
}

fn answer(input: &Input, id: MailId) -> Option<String> {
    let Input::Received { mail } = input else { return None };
    match &mail.iter().find(|mail| mail.id == id)?.body {
        MailBody::Answer { question, answer } => {
            Some(format!("answer to question {question}: {}", common::answer(answer)))
        }
        _ => None,
    }
}

fn calls(moment: Moment<'_>) -> Vec<Scene> {
    let round = moment.now.run.as_ref().and_then(Run::round);
    let called = |call: &Call| {
        let text = call.tool_use.input.text().to_owned();
        about(scene(moment, Kind::Call, text), call)
    };
    round.into_iter().flat_map(|round| &round.calls).map(called).collect()
}

fn settled(moment: Moment<'_>, id: CallId) -> Option<Scene> {
    let call = moment.now.run.as_ref().and_then(Run::round)?.call(id)?;
    let CallState::Settled(shown) = &call.state else { return None };
    let (kind, text) = match shown.flag {
        ErrorFlag::Fine => (Kind::Result, common::result(shown)),
        ErrorFlag::Error => {
            (Kind::Error, format!("{}: {}", shown.kind.as_str(), common::reason(shown)))
        }
    };
    Some(about(scene(moment, kind, text), call))
}

fn about(scene: Scene, call: &Call) -> Scene {
    let (id, tool) = (call.id.to_string(), call.tool_use.name.clone());
    Scene { call: Some(id), tool: Some(tool), ..scene }
}
