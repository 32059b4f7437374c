//! `windlass approve`: yes to a call that waits for leave, and then the run goes on.

use std::process::ExitCode;

use anyhow::{Context, bail};
use windlass::Answer;
use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, QuestionId};
use windlass::core::mail::MailBody;
use windlass::core::permission::{Asked, Effect, Lean, Rule, suggest};
use windlass::core::question::{About, Question};
use windlass::core::run::Run;

use crate::args::AgentArgs;
use crate::commands::sending::{Left, Sending, Then};
use crate::look::args::ApproveArgs;
use crate::look::story::Story;
use crate::look::{acts, find};
use crate::settle::paths;
use crate::setup::{self, Asks};
use crate::{present, show, words};

pub(crate) async fn approve(args: ApproveArgs) -> anyhow::Result<ExitCode> {
    let store = setup::existing_store(&args.agent.store).await?;
    let workspace = &args.agent.permissions.workspace;
    let found = find::find(store.as_ref(), args.id.as_deref(), workspace).await?;
    let story = Story::read(store.as_ref(), found.lane.clone()).await?;
    let (question, call) = meant(&story, args.question)?;
    show_question(&question.about, &story.now, &args.agent)?;
    let rule = if args.rule { Some(rule(&story.now, call)?) } else { None };
    if let Some(rule) = &rule {
        let folder = present::command_folder(&question.about, &story.now).unwrap_or_default();
        show::note(&acts::kept(rule, folder));
    }
    // What is approved is what was shown: an input that changes meanwhile is not meant.
    let yes = rule.map_or_else(Answer::allow, Answer::granting);
    let answer = match story.now.input_hash(call) {
        Some(hash) => yes.for_input(&hash),
        None => yes,
    };
    let left = Left::answer(&found.lane, question.id);
    let mail = Some(MailBody::Answer { question: question.id, answer });
    let sending = Sending { lane: found.lane, mail, left, asks: Asks::Model };
    sending.send(store, &args.agent, Then::of(args.detach)).await
}

/// Says what is approved, whole: on standard error, so that the answer can still be piped.
pub(super) fn show_question(
    about: &About,
    now: &Conversation,
    agent: &AgentArgs,
) -> anyhow::Result<()> {
    let folder = paths::folder(&agent.permissions.workspace, "--workspace")?;
    let (title, details) = words::asked(about, now, &folder);
    show::note(&title);
    details.iter().for_each(|line| show::note(line));
    Ok(())
}

/// The question that is meant, and the call that it is about.
fn meant(story: &Story, id: Option<QuestionId>) -> anyhow::Result<(Question, CallId)> {
    let lane = &story.lane;
    let open: Vec<&Question> = story.now.run.iter().flat_map(Run::questions).collect();
    let approval = |question: &&Question| matches!(question.about, About::Approval { .. });
    let waiting: Vec<&Question> = open.iter().copied().filter(approval).collect();
    let named = id.map(|id| (id, open.iter().copied().find(|question| question.id == id)));
    let question = match (named, waiting.as_slice()) {
        (None, [only]) => only,
        (None, []) => bail!(acts::no_leave_wanted(lane)),
        (None, _) => bail!(acts::several(lane, &waiting)),
        (Some((_, Some(question))), _) if approval(&question) => question,
        (Some((_, Some(question))), _) => bail!(acts::takes_others(lane, question)),
        (Some((id, None)), _) => bail!(acts::not_open(lane, id, &open)),
    };
    Ok((question.clone(), question.about.call().context(acts::NO_CALL)?))
}

/// The rule that would let the same call run without asking.
fn rule(now: &Conversation, id: CallId) -> anyhow::Result<Rule> {
    let call = now.run.as_ref().and_then(Run::round).and_then(|round| round.call(id));
    let settings = now.settings.as_ref();
    let suggested = call.zip(settings).and_then(|(call, settings)| {
        let effect = if call.facts.only_looks() { Effect::None } else { Effect::Some };
        let (tool, subject, lean) = (&*call.tool_use.name, &call.facts.subject, Lean::Neutral);
        suggest(&settings.rules, Asked { tool, subject, effect, lean, grants: &now.grants })
    });
    suggested.context(acts::NO_RULE)
}
