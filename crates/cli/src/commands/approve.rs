//! `windlass approve`: yes to a call that waits for leave, and then the run goes on.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::Answer;
use windlass::core::conversation::Conversation;
use windlass::core::ids::CallId;
use windlass::core::mail::MailBody;
use windlass::core::permission::{Asked, Effect, Lean, Rule, suggest};
use windlass::core::question::{About, Question};
use windlass::core::run::Run;
use windlass::ports::Letter;

use crate::args::OutputFormat;
use crate::look::args::ApproveArgs;
use crate::look::find;
use crate::look::story::Story;
use crate::{setup, show};

pub(crate) async fn approve(mut args: ApproveArgs) -> anyhow::Result<ExitCode> {
    let store = setup::store(&args.agent.store).await?;
    let found = find::find(store.as_ref(), &args.id).await?;
    let story = Story::read(store.as_ref(), found.lane.clone()).await?;
    let (question, call) = meant(&story, args.question)?;
    let rule = if args.rule { Some(rule(&story.now, call)?) } else { None };
    if let Some(rule) = &rule {
        show::note(&format!("the rule {rule} is kept for this conversation"));
    }
    let answer = Answer::Allow { rule };
    if args.detach {
        let body = MailBody::Answer { question: question.id, answer };
        let letter = Letter { key: Arc::from(setup::new_id()), body };
        store.deliver(found.lane.clone(), letter).await?;
        show::line(&format!("question {} of {} is answered", question.id, found.lane));
        return Ok(ExitCode::SUCCESS);
    }
    // The one that drives opens the store for itself.
    drop(store);
    if args.json {
        args.agent.output.output_format = OutputFormat::Json;
    }
    let setup = setup::start(&args.agent).await?;
    let session = setup.windlass.session(found.lane);
    session.answer(question.id, answer).await?;
    let run = session.resume().await?;
    show::watch(run, &session, &setup, &args.agent).await
}

/// The question that is meant, and the call that it is about.
fn meant(story: &Story, id: Option<u32>) -> anyhow::Result<(Question, CallId)> {
    let lane = &story.lane;
    let open: Vec<Question> = story.now.run.iter().flat_map(Run::questions).cloned().collect();
    let approval = |question: &&Question| matches!(question.about, About::Approval { .. });
    let waiting: Vec<&Question> = open.iter().filter(approval).collect();
    let question = match (id, waiting.as_slice()) {
        (None, [only]) => *only,
        (None, []) => {
            bail!("{lane} asks for nobody's leave; `windlass explain {lane}` says why it stands")
        }
        (None, _) => bail!("{lane} asks several questions; name one: {}", ids(&waiting)),
        (Some(id), _) => match open.iter().find(|question| question.id == id) {
            Some(question) if approval(&question) => question,
            Some(question) => {
                let choices = question.about.choices();
                bail!("question {id} takes {choices}; use `windlass answer {lane} {id} …`")
            }
            None if open.is_empty() => bail!("{lane} has no open question {id}"),
            None => {
                let open: Vec<&Question> = open.iter().collect();
                bail!("{lane} has no open question {id}; open: {}", ids(&open))
            }
        },
    };
    let call = question.about.call().context("the question is about no call")?;
    Ok((question.clone(), call))
}

fn ids(questions: &[&Question]) -> String {
    let ids: Vec<String> = questions.iter().map(|question| question.id.to_string()).collect();
    ids.join(", ")
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
    suggested.context("no rule covers just this call; approve it without --rule")
}
