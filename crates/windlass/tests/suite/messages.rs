//! Messages are a projection of the log: every reader gets the same ones, with the same ids.

use windlass::core::Conversation;
use windlass::core::settings::conversation_settings::{ModelSpec, Settings};
use windlass::memory::MemoryStore;
use windlass::messages::{
    ContentBlock, Message, MessageOptions, MessageProjection, MessageReader, SystemEvent,
    TranscriptContext, TranscriptProjection,
};
use windlass::{Session, Windlass};

use crate::kit::{ProbeTool, windlass_builder};

const TWO_CALLS: &str = r#"
when results 0
  say "I look."
  call Look {"at": 1}
  call Look {"at": 2}
when any
  say "Done."
"#;

async fn start(script: &str) -> Windlass {
    let tools = [ProbeTool::read("Look"), ProbeTool::once_only("Dig")];
    windlass_builder(script, MemoryStore::new(), &tools).enable_sub_agents().start().await.unwrap()
}

fn settings() -> Settings {
    Settings::new(ModelSpec::with_defaults("scripted"))
}

/// Reads a run live.
async fn read_live(session: &Session, options: MessageOptions) -> Vec<Message> {
    let mut run = session.send("go").await.unwrap();
    let before = run.conversation_before().await.unwrap();
    let mut reader = MessageReader::new(session, before, &settings(), options);
    let mut messages = Vec::new();
    while let Some(item) = run.next().await.unwrap() {
        messages.extend(reader.read(&item).await.unwrap());
    }
    messages
}

/// Reads the same from the log.
async fn read_log(session: &Session) -> Vec<Message> {
    let options = MessageOptions::default().to_projection();
    let (lane, before) = (session.lane(), Conversation::default());
    let mut projection = MessageProjection::new(lane, before, &settings(), options);
    let log = session.read_log().await.unwrap();
    log.iter().flat_map(|entry| projection.on_entry(entry)).collect()
}

fn ids(messages: &[Message]) -> Vec<String> {
    let id = |message: &Message| match message {
        Message::Assistant(message) => Some(message.uuid.clone()),
        Message::User(message) => Some(message.uuid.clone()),
        _ => None,
    };
    messages.iter().filter_map(id).collect()
}

#[tokio::test]
async fn a_live_reader_and_a_reader_of_the_log_see_the_same_messages() {
    let windlass = start(TWO_CALLS).await;
    let session = windlass.session("conversation:1");
    let options = MessageOptions { prompts: true, ..MessageOptions::default() };
    let live = ids(&read_live(&session, options).await);
    assert_eq!(live, ids(&read_log(&session).await));
    assert_eq!(live.len(), 1 + 3 + 2 + 1, "prompt, blocks, results, answer");
    let distinct: std::collections::BTreeSet<_> = live.iter().collect();
    assert_eq!(distinct.len(), live.len());
}

const DELEGATES: &str = r#"
when user is "go" and results 0
  call Agent {"description": "dig", "prompt": "dig for gold"}
when user is "go"
  say "they say: ${result}"
when user is "dig for gold" and results 0
  say "I dig."
  call Dig {}
when any
  say "gold: ${result}"
"#;

/// Where each message comes from: the main conversation, or a sub-agent.
fn outline(messages: &[Message]) -> Vec<String> {
    let block = |content: &[ContentBlock]| match content.first() {
        Some(ContentBlock::Text(text)) => text.text.clone(),
        Some(ContentBlock::ToolUse(call)) => format!("call {}", call.name),
        Some(ContentBlock::ToolResult(_)) => "result".to_owned(),
        _ => "?".to_owned(),
    };
    let line = |message: &Message| match message {
        Message::Assistant(message) => {
            let who = if message.parent_tool_use_id.is_some() { "sub" } else { "main" };
            format!("{who}: {}", block(&message.message.content))
        }
        Message::User(message) => {
            let who = if message.parent_tool_use_id.is_some() { "sub" } else { "main" };
            format!("{who}: {}", block(&message.message.content))
        }
        Message::System(system) => match &system.event {
            SystemEvent::TaskStarted { description, .. } => format!("started {description}"),
            SystemEvent::TaskNotification { status, .. } => format!("ended {status}"),
            _ => "system".to_owned(),
        },
        _ => "other".to_owned(),
    };
    messages.iter().map(line).filter(|line| line != "system").collect()
}

#[tokio::test]
async fn messages_of_a_sub_agent_name_its_call_and_come_before_its_result() {
    let windlass = start(DELEGATES).await;
    let session = windlass.session("conversation:1");
    let shown = outline(&read_live(&session, MessageOptions::default()).await);
    assert_eq!(
        shown,
        [
            "main: call Agent",
            "started dig",
            "sub: dig for gold",
            "sub: call Dig",
            "sub: result",
            "ended completed",
            "main: result",
            "main: they say: gold: probed",
        ]
    );
    let options = MessageOptions { sub_agent_text: true, ..MessageOptions::default() };
    let all = outline(&read_live(&windlass.session("conversation:2"), options).await);
    assert!(all.contains(&"sub: I dig.".to_owned()), "{all:?}");
    assert!(all.contains(&"sub: gold: probed".to_owned()), "{all:?}");
}

#[tokio::test]
async fn the_lines_of_a_transcript_form_a_chain() {
    let windlass = start(TWO_CALLS).await;
    let session = windlass.session("conversation:1");
    session.send("go").await.unwrap().wait_for_end().await.unwrap();
    let mut transcript = TranscriptProjection::new(TranscriptContext::default());
    let messages = read_log(&session).await;
    let lines: Vec<_> = messages.iter().flat_map(|message| transcript.lines(message)).collect();
    let chain: Vec<_> = lines.iter().filter(|line| line["uuid"].is_string()).collect();
    assert!(chain[0]["parentUuid"].is_null());
    for pair in chain.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
    let result = chain.iter().find(|line| line["toolUseResult"].is_string()).unwrap();
    let caller = chain.iter().find(|line| line["uuid"] == result["sourceToolAssistantUUID"]);
    assert_eq!(caller.unwrap()["message"]["content"][0]["name"], "Look");
    assert_eq!(chain.last().unwrap()["message"]["stop_reason"], "end_turn");
}
