//! Steps of a random story. They aim at what the lane is doing, and sometimes miss on purpose.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::block::Block;
use windlass_core::budget::Caps;
use windlass_core::child::{Ending, Parent, Task};
use windlass_core::counsel::Advice;
use windlass_core::ids::{CallId, LaneId, Millis, RunId};
use windlass_core::input::{Failure, FailureClass, Finding, HookAnswer, Input, Opinion};
use windlass_core::mail::{Answer, MailBody};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::permission::Lean;
use windlass_core::question::{About, Question};
use windlass_core::raw::Raw;
use windlass_core::reply::{Reply, Usage};
use windlass_core::run::Run;
use windlass_core::settings::Settings;
use windlass_core::wanted::{Effect, wanted};

use super::matter::{block, blocks, json, reply, text};
use super::narrow::narrow;
use crate::kit::{Lane, facts_for, home, page, settings};

/// One thing that happens.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// The world does what is wanted, or somebody answers, or the time comes.
    Go(usize, Box<World>),
    Mail(Vec<MailBody>),
    Answer(u32, Answer),
    Reply(Aim, Reply),
    Fails(Aim, Failure),
    Returns(Aim, Outcome),
    Hook(Aim, HookAnswer),
    Advice(Advice),
    Opinion(Aim, Opinion),
    Home(Aim, u16, Ending),
    Probe(Aim, Finding),
    Streams(u16, Block),
    Tick(u64),
    Adopt(Prompt),
    Configure(Box<Settings>),
    Fork,
}

/// What the world brings when it is asked.
#[derive(Debug, Clone)]
pub(crate) struct World {
    reply: Reply,
    outcome: Outcome,
    hook: HookAnswer,
    finding: Finding,
    advice: Advice,
    opinion: Opinion,
    text: String,
}

/// Where a step is aimed: at something there, or past it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim {
    At(usize),
    Past(u32, u16),
}

/// The prompt a new owner has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prompt {
    Same,
    Other,
}

fn aim() -> BoxedStrategy<Aim> {
    prop_oneof![9 => (0..6_usize).prop_map(Aim::At), 1 => (any::<u32>(), any::<u16>()).prop_map(|(a, b)| Aim::Past(a, b))]
    .boxed()
}

fn arc(text: String) -> Arc<str> {
    Arc::from(text)
}

fn run_id() -> BoxedStrategy<RunId> {
    "r[0-9]{1,2}".prop_map(RunId::from).boxed()
}

fn mail() -> BoxedStrategy<MailBody> {
    let words =
        || prop_oneof![3 => text().prop_map(|text| vec![Block::text(&text)]), 1 => blocks()];
    prop_oneof![
        6 => (run_id(), words()).prop_map(|(run, blocks)| MailBody::prompt(run, blocks)),
        3 => (run_id(), words()).prop_map(|(run, blocks)| MailBody::Steer { run, blocks }),
        1 => prop::option::of(run_id()).prop_map(|run| MailBody::Cancel { run }),
        1 => prop::option::of(run_id()).prop_map(|run| MailBody::Abort { run }),
        1 => text().prop_map(|text| MailBody::ChildFinished { child: LaneId::from("c"), text: arc(text), home: None }),
        1 => Just(MailBody::Compact { wishes: None }),
        1 => text().prop_map(|text| MailBody::Memory { text: arc(text) }),
        1 => (run_id(), text()).prop_map(|(run, prompt)| task(run, arc(prompt))),
    ]
    .boxed()
}

fn task(run: RunId, prompt: Arc<str>) -> MailBody {
    let caps = Caps { tokens: Some(50_000), usd_micros: None };
    let call = CallId { ask: 1, index: 0 };
    let parent = Parent { lane: LaneId::from("p"), call, part: 0, caps, depth: 1 };
    MailBody::Task { run, task: Task::new("", &prompt), parent }
}

fn usage() -> BoxedStrategy<Usage> {
    let tokens = prop_oneof![4 => 0..500_u64, 1 => any::<u64>()];
    (tokens.clone(), tokens)
        .prop_map(|(input_tokens, output_tokens)| Usage {
            input_tokens,
            output_tokens,
            ..Usage::default()
        })
        .boxed()
}

fn advice() -> BoxedStrategy<Advice> {
    prop_oneof![
        3 => prop::option::of(text()).prop_map(|said| Advice::Pass { context: said.map(arc) }),
        2 => text().prop_map(|reason| Advice::Block { reason: arc(reason) }),
        1 => text().prop_map(|reason| Advice::Stop { reason: arc(reason) }),
        3 => (text(), usage()).prop_map(|(said, usage)| Advice::Summary { text: arc(said), usage }),
        2 => (text(), usage()).prop_map(|(why, usage)| Advice::Failed { why: arc(why), usage }),
    ]
    .boxed()
}

fn opinion() -> BoxedStrategy<Opinion> {
    prop_oneof![
        Just(Opinion::Allow {}),
        text().prop_map(|reason| Opinion::Deny { reason: arc(reason) }),
        text().prop_map(|why| Opinion::Unsure { why: arc(why) }),
    ]
    .boxed()
}

fn answer() -> BoxedStrategy<Answer> {
    prop_oneof![
        3 => Just(Answer::allow()),
        1 => Just(Answer::granting(crate::kit::rule("deploy"))),
        1 => text().prop_map(|reason| Answer::Deny { reason: arc(reason) }),
        2 => Just(Answer::Retry {}),
        1 => text().prop_map(|text| Answer::MarkDone { text: arc(text) }),
        1 => Just(Answer::Abandon {}),
        2 => Just(Answer::Continue {}),
        1 => text().prop_map(|text| Answer::Text { text: arc(text) }),
    ]
    .boxed()
}

fn outcome() -> BoxedStrategy<Outcome> {
    let error = (text(), text(), 0..6_u8).prop_map(|(code, message, kind)| {
        let error = ToolError::new(&code, &message, "hint");
        match kind {
            0 => error.fatal(),
            1..4 => error.passing(),
            _ => error,
        }
    });
    prop_oneof![
        4 => text().prop_map(|text| Outcome::Done(Raw::string(&text))),
        3 => (0..9_usize).prop_map(|nth| Outcome::Done(Raw::string(&page(nth, 2_500)))),
        2 => json().prop_map(|json| Outcome::Done(Raw::parse(json).expect("json() makes JSON"))),
        3 => error.prop_map(Outcome::Failed),
        1 => any::<u64>().prop_map(|after_ms| Outcome::TimedOut { after_ms }),
        1 => any::<u64>().prop_map(|after_ms| Outcome::Interrupted { after_ms }),
    ]
    .boxed()
}

fn hook() -> BoxedStrategy<HookAnswer> {
    let change = |json: String| {
        let input = Raw::parse(json).expect("json() makes JSON");
        let call = windlass_core::block::ToolUse {
            id: "t".into(),
            name: "read".into(),
            input: input.clone(),
        };
        HookAnswer::Change { input, facts: Box::new(facts_for(&call)), lean: Lean::Neutral }
    };
    prop_oneof![
        4 => Just(HookAnswer::Pass {}),
        1 => Just(HookAnswer::Allow {}),
        1 => Just(HookAnswer::Ask {}),
        1 => text().prop_map(|reason| HookAnswer::Deny { reason: arc(reason) }),
        1 => json().prop_map(change),
    ]
    .boxed()
}

fn failure() -> BoxedStrategy<Failure> {
    use FailureClass::{Cut, Lasting, Passing, TooLong};
    let class = prop::sample::select(vec![Passing, Passing, Cut, TooLong, Lasting]);
    (class, text(), prop::option::of(any::<u64>()))
        .prop_map(|(class, message, retry_after_ms)| Failure {
            class,
            message: arc(message),
            retry_after_ms,
            raw: None,
        })
        .boxed()
}

fn finding() -> BoxedStrategy<Finding> {
    prop_oneof![
        text().prop_map(|text| Finding::Happened { text: arc(text) }),
        Just(Finding::DidNotHappen {}),
        Just(Finding::Unknown {}),
    ]
    .boxed()
}

fn world() -> BoxedStrategy<World> {
    (reply(), outcome(), hook(), finding(), (advice(), opinion()), text())
        .prop_map(|(reply, outcome, hook, finding, (advice, opinion), text)| World {
            reply,
            outcome,
            hook,
            finding,
            advice,
            opinion,
            text,
        })
        .boxed()
}

pub(crate) fn step() -> BoxedStrategy<Step> {
    prop_oneof![
        24 => (any::<usize>(), world()).prop_map(|(pick, world)| Step::Go(pick, Box::new(world))),
        3 => from_outside(),
        1 => astray(),
    ]
    .boxed()
}

fn from_outside() -> BoxedStrategy<Step> {
    let ticks = prop_oneof![4 => 0..20_000_u64, 2 => Just(200_000), 1 => Just(9_000_000), 1 => Just(u64::MAX)];
    let prompts = prop::sample::select(vec![Prompt::Same, Prompt::Same, Prompt::Other]);
    prop_oneof![
        4 => prop::collection::vec(mail(), 1..3).prop_map(Step::Mail),
        2 => (aim(), failure()).prop_map(|(aim, failure)| Step::Fails(aim, failure)),
        1 => (0..4_u16, block()).prop_map(|(index, block)| Step::Streams(index, block)),
        1 => ticks.prop_map(Step::Tick),
        3 => prompts.prop_map(Step::Adopt),
    ]
    .boxed()
}

fn astray() -> BoxedStrategy<Step> {
    prop_oneof![
        2 => (0..3_u32, answer()).prop_map(|(back, answer)| Step::Answer(back, answer)),
        2 => (aim(), reply()).prop_map(|(aim, reply)| Step::Reply(aim, reply)),
        2 => (aim(), outcome()).prop_map(|(aim, outcome)| Step::Returns(aim, outcome)),
        1 => (aim(), hook()).prop_map(|(aim, answer)| Step::Hook(aim, answer)),
        1 => advice().prop_map(Step::Advice),
        1 => (aim(), opinion()).prop_map(|(aim, opinion)| Step::Opinion(aim, opinion)),
        2 => (aim(), 0..5_u16).prop_map(|(aim, part)| Step::Home(aim, part, Ending::Answered)),
        1 => (aim(), finding()).prop_map(|(aim, finding)| Step::Probe(aim, finding)),
        1 => narrow().prop_map(|settings| Step::Configure(Box::new(settings))),
        1 => Just(Step::Fork),
    ]
    .boxed()
}

/// The call aimed at, with its attempt.
fn target(lane: &Lane, aim: Aim) -> (CallId, u32) {
    let calls = lane.live.run.as_ref().and_then(Run::round).map_or(&[][..], |round| &round.calls);
    match aim {
        Aim::At(place) if !calls.is_empty() => {
            let call = &calls[place % calls.len()];
            (call.id, call.attempts)
        }
        Aim::At(_) => (CallId { ask: lane.live.asks, index: 0 }, 1),
        Aim::Past(ask, index) => (CallId { ask, index }, ask),
    }
}

fn ask(lane: &Lane, aim: Aim) -> u32 {
    match aim {
        Aim::At(_) => lane.live.asks,
        Aim::Past(ask, _) => ask,
    }
}

/// Everything that could happen next by itself.
enum Next {
    Effect(Effect),
    Child(CallId, u16),
    Question(Question),
    Wake(Millis),
    Prompt,
}

fn nexts(lane: &Lane) -> Vec<Next> {
    let wanted = wanted(&lane.live);
    let questions = lane.live.run.iter().flat_map(|run| run.questions().cloned());
    let mut nexts: Vec<Next> = wanted.effects.into_iter().map(Next::Effect).collect();
    nexts.extend(questions.map(Next::Question));
    let calls = lane.live.run.as_ref().and_then(Run::round).map_or(&[][..], |round| &round.calls);
    for call in calls {
        let parts = call.away().into_iter().flat_map(|away| away.at_work_parts());
        nexts.extend(parts.map(|part| Next::Child(call.id, part)));
    }
    nexts.extend(wanted.wake_at.map(Next::Wake));
    if nexts.is_empty() {
        nexts.push(Next::Prompt);
    }
    nexts
}

fn go(mut lane: Lane, pick: usize, world: World) -> Lane {
    let mut nexts = nexts(&lane);
    let place = pick % nexts.len();
    match nexts.swap_remove(place) {
        Next::Effect(effect) => perform(lane, effect, world),
        Next::Child(call, part) => {
            let ending = if pick.is_multiple_of(3) { Ending::Failed } else { Ending::Answered };
            lane.child_home(home(call, part, ending), &world.text)
        }
        Next::Question(question) => {
            let answer = fitting(&question.about, pick / 7, &world.text);
            lane.answer_to(question.id, answer)
        }
        Next::Wake(due) => {
            lane.now = Millis(due.0.saturating_sub(1)).max(lane.now);
            lane.input(Input::Ticked {})
        }
        Next::Prompt => {
            let blocks = vec![Block::text("go on"), Block::text(&world.text)];
            let run = RunId::from(format!("run at {}", lane.now.0));
            lane.mail(MailBody::prompt(run, blocks))
        }
    }
}

fn perform(lane: Lane, effect: Effect, world: World) -> Lane {
    let started_at = lane.now;
    let input = match effect {
        Effect::Ask(ask) => {
            let facts = world.reply.tool_uses().map(|(_, call)| facts_for(call)).collect();
            Input::Replied { ask, reply: Arc::new(world.reply), facts }
        }
        Effect::RunTool { call, attempt } => {
            Input::ToolReturned { call, attempt, started_at, outcome: world.outcome }
        }
        Effect::HookBefore(call) | Effect::HookAfter(call) => {
            let context = (world.text.len() % 3 == 1).then(|| Arc::from(world.text));
            Input::HookAnswered { call, answer: world.hook, context }
        }
        Effect::Probe(call) => Input::Probed { call, finding: world.finding },
        Effect::Classify(call) => {
            Input::Classified { call, opinion: world.opinion, usage: Usage::default() }
        }
        Effect::Consult(counsel) => Input::Counselled { counsel, advice: world.advice },
        Effect::Configure => Input::Configured { settings: Arc::new(settings()) },
    };
    lane.input(input)
}

fn fitting(about: &About, pick: usize, text: &str) -> Answer {
    let text: Arc<str> = Arc::from(text);
    let (a, b, c) = match about {
        About::Approval { .. } => (Answer::allow(), Answer::allow(), Answer::Deny { reason: text }),
        About::Uncertain { .. } => {
            (Answer::Retry {}, Answer::MarkDone { text }, Answer::Abandon {})
        }
        About::Asking { .. } => (
            Answer::Text { text: text.clone() },
            Answer::Text { text: text.clone() },
            Answer::Deny { reason: text },
        ),
        About::Plan { .. } => (Answer::allow(), Answer::Continue {}, Answer::Deny { reason: text }),
        About::Guidance { .. } => (Answer::Text { text }, Answer::Continue {}, Answer::Abandon {}),
        About::Budget { .. } | About::Drift { .. } => {
            (Answer::Continue {}, Answer::Continue {}, Answer::Abandon {})
        }
    };
    match pick % 3 {
        0 => a,
        1 => b,
        _ => c,
    }
}

/// Lets a step happen.
pub(crate) fn happen(mut lane: Lane, step: Step) -> Lane {
    match step {
        Step::Go(pick, world) => go(lane, pick, *world),
        Step::Mail(bodies) => lane.mails(bodies),
        Step::Answer(back, answer) => {
            let question = lane.live.questions.saturating_sub(back);
            lane.answer_to(question, answer)
        }
        Step::Reply(aim, reply) => {
            let ask = ask(&lane, aim);
            let facts = reply.tool_uses().map(|(_, call)| facts_for(call)).collect();
            lane.input(Input::Replied { ask, reply: Arc::new(reply), facts })
        }
        Step::Fails(aim, failure) => {
            let ask = ask(&lane, aim);
            lane.input(Input::ModelFailed { ask, failure })
        }
        Step::Returns(aim, outcome) => {
            let (call, attempt) = target(&lane, aim);
            let started_at = lane.now;
            lane.input(Input::ToolReturned { call, attempt, started_at, outcome })
        }
        Step::Hook(aim, answer) => {
            let (call, _) = target(&lane, aim);
            lane.input(Input::HookAnswered { call, answer, context: None })
        }
        Step::Advice(advice) => lane.advise(advice),
        Step::Opinion(aim, opinion) => {
            let (call, _) = target(&lane, aim);
            lane.input(Input::Classified { call, opinion, usage: Usage::default() })
        }
        Step::Home(aim, part, ending) => {
            let (call, _) = target(&lane, aim);
            lane.child_home(home(call, part, ending), "home")
        }
        Step::Probe(aim, finding) => {
            let (call, _) = target(&lane, aim);
            lane.input(Input::Probed { call, finding })
        }
        Step::Streams(index, block) if block.as_tool_use().is_some() => lane.streams(index, &block),
        Step::Streams(..) => lane,
        Step::Tick(u64::MAX) => {
            lane.now = Millis(u64::MAX);
            lane.input(Input::Ticked {})
        }
        Step::Tick(ms) => lane.wait(ms),
        Step::Adopt(Prompt::Same) => {
            let hash = lane.live.prompt_hash.clone().unwrap_or_else(|| Arc::from(""));
            lane.adopted_with(&hash)
        }
        Step::Adopt(Prompt::Other) => lane.adopted_with("another prompt"),
        Step::Configure(settings) => lane.configure(*settings),
        Step::Fork => lane.fork("parent"),
    }
}
