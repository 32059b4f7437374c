//! Approvals that change more than one call, and commands that change a conversation: with real
//! tools and a real driver.

use std::path::Path;

use windlass::core::log::inbox::{AnswerChannel, AnswerSource, InboxCommand};
use windlass::core::log::input::Input;
use windlass::core::log::record::Record;
use windlass::core::message::raw_json::RawJson;
use windlass::core::permission::{
    DefaultDecision, PermissionMode, PermissionRule, PermissionUpdate, RuleBehavior,
};
use windlass::core::settings::conversation_settings::ModelSpec;
use windlass::core::settings::run_settings::RunModels;
use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::tools::{ReadTool, WriteTool};
use windlass::{HumanAnswer, RunOutcome, RunStream, Session, StopCause, Windlass};

use crate::kit::{ProbeTool, windlass_builder};

fn writes(path: &Path) -> String {
    let call = format!("{{\"file_path\": \"{}\", \"content\": \"hi\"}}", path.display());
    format!("when results 0\n  call Write {call}\nwhen any\n  say \"${{result}}\"\n")
}

async fn writer(folder: &Path, script: &str) -> Windlass {
    Windlass::builder()
        .scripted_model(Script::parse(script).unwrap())
        .store(MemoryStore::new())
        .tool(WriteTool::new(folder))
        .tool(ReadTool::new(folder))
        .start()
        .await
        .unwrap()
}

/// Sends a prompt, which parks with one question, and returns the question.
async fn ask(session: &Session) -> u32 {
    let outcome = session.send("go").await.unwrap().wait_for_end().await.unwrap();
    match outcome {
        RunOutcome::Parked(questions) => questions[0].id,
        other => panic!("not parked: {other:?}"),
    }
}

async fn end_of(run: RunStream) -> (StopCause, String) {
    match run.wait_for_end().await.unwrap() {
        RunOutcome::Finished(ended) => (ended.cause, ended.text.to_string()),
        other => panic!("not finished: {other:?}"),
    }
}

// spec: PERMISSIONS-24
#[tokio::test]
async fn a_file_is_written_where_the_approval_says() {
    let folder = tempfile::tempdir().unwrap();
    let (asked, given) = (folder.path().join("a"), folder.path().join("b"));
    let w = writer(folder.path(), &writes(&asked)).await;
    let session = w.session("lane");
    let question = ask(&session).await;
    let input = format!("{{\"file_path\":\"{}\",\"content\":\"ho\"}}", given.display());
    let answer = HumanAnswer::allow().with_changed_input(RawJson::parse(input).unwrap());
    let source = AnswerSource::new(AnswerChannel::Callback).with_detail("test");
    session.answer_as(question, answer, source).await.unwrap();
    let (cause, _) = end_of(session.resume().await.unwrap()).await;
    assert_eq!(cause, StopCause::EndTurn);
    assert_eq!(std::fs::read_to_string(&given).unwrap(), "ho");
    assert!(!asked.exists());
    let log = session.read_log().await.unwrap();
    let answered = log.iter().find_map(|entry| match &entry.input {
        Input::CommandsReceived { messages } => messages.iter().find_map(|m| match &m.body {
            InboxCommand::Answer { answer, answered_by, .. } => {
                Some((answer.changed_input().cloned(), answered_by.clone()))
            }
            _ => None,
        }),
        _ => None,
    });
    let (changed, source) = answered.unwrap();
    assert!(changed.unwrap().facts.is_some(), "the facts are recorded with the answer");
    assert_eq!(source.unwrap().channel, AnswerChannel::Callback);
}

// spec: PERMISSIONS-24
#[tokio::test]
async fn changed_arguments_that_fit_no_schema_do_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let w = writer(folder.path(), &writes(&path)).await;
    let session = w.session("lane");
    let question = ask(&session).await;
    let answer = HumanAnswer::allow().with_changed_input(RawJson::parse(r#"{"x":1}"#).unwrap());
    session.answer(question, answer).await.unwrap();
    let (_, text) = end_of(session.resume().await.unwrap()).await;
    assert!(text.contains("invalid_input"), "{text}");
    assert!(!path.exists());
}

// spec: PERMISSIONS-25
#[tokio::test]
async fn an_added_folder_is_part_of_the_workspace() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = other.path().join("a");
    let w = writer(folder.path(), &writes(&path)).await;
    let session = w.session("lane");
    session.set_permission_mode(PermissionMode::AcceptEdits).await.unwrap();
    let question = ask(&session).await;
    assert!(!path.exists(), "the folder is not part of the workspace yet");
    let folders = vec![other.path().to_string_lossy().as_ref().into()];
    session.update_permissions(vec![PermissionUpdate::AddFolders { folders }]).await.unwrap();
    session.answer(question, HumanAnswer::deny("not now")).await.unwrap();
    end_of(session.resume().await.unwrap()).await;
    let (cause, _) = end_of(session.send("again").await.unwrap()).await;
    assert_eq!(cause, StopCause::EndTurn);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hi");
}

// spec: PERMISSIONS-25
#[tokio::test]
async fn another_mode_answers_an_open_question() {
    let script = "when results 0\n  call Send {}\nwhen any\n  say \"${result}\"\n";
    let send = ProbeTool::once_only("Send");
    let builder = windlass_builder(script, MemoryStore::new(), std::slice::from_ref(&send))
        .settings(|settings| settings.rules.default_decision = DefaultDecision::Ask);
    let w = builder.start().await.unwrap();
    let session = w.session("lane");
    let question = ask(&session).await;
    session.set_permission_mode(PermissionMode::BypassPermissions).await.unwrap();
    let (_, text) = end_of(session.resume().await.unwrap()).await;
    assert_eq!((text.as_str(), send.run_count()), ("probed", 1));
    session.answer(question, HumanAnswer::allow()).await.unwrap();
    end_of(session.send("again").await.unwrap()).await;
    assert_eq!(send.run_count(), 2, "the second answer changed nothing, and the mode stays");
}

// spec: PERMISSIONS-25
#[tokio::test]
async fn a_deny_rule_of_an_answer_holds_in_the_next_run() {
    let script = "when results 0\n  call Send {}\nwhen any\n  say \"${result}\"\n";
    let send = ProbeTool::once_only("Send");
    let builder = windlass_builder(script, MemoryStore::new(), std::slice::from_ref(&send));
    let w = builder.start().await.unwrap();
    let session = w.session("lane");
    let rules = vec![PermissionRule::parse("Send").unwrap()];
    let update = PermissionUpdate::AddRules { behavior: RuleBehavior::Deny, rules };
    end_of(session.send("one").await.unwrap()).await;
    session.update_permissions(vec![update]).await.unwrap();
    let (_, text) = end_of(session.send("two").await.unwrap()).await;
    assert!(text.contains("the rule Send denies it"), "{text}");
    assert_eq!(send.run_count(), 1);
}

// spec: MODELS-12
#[tokio::test]
async fn another_model_is_called_from_the_next_call_on() {
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let script = "when results 0\n  call Look {}\nwhen any\n  say \"done\"\n";
    let look = ProbeTool::read("Look").with_gate(&gate);
    let w = windlass_builder(script, MemoryStore::new(), &[look]).start().await.unwrap();
    let session = w.session("lane");
    let mut run = session.send("go").await.unwrap();
    let model = ModelSpec::with_defaults("other");
    let models = RunModels {
        model,
        fallback: None,
        further_fallbacks: Vec::new(),
        temperature: None,
        cache: None,
    };
    session.set_model(models.into()).await.unwrap();
    let mut seen = Vec::new();
    while let Some(item) = run.next().await.unwrap() {
        let windlass::StreamItem::Entry(entry) = item else { continue };
        for record in &entry.records {
            match record {
                Record::ModelChangeRequested { .. } => gate.notify_one(),
                Record::ModelChanged { model } => seen.push(model.to_string()),
                _ => {}
            }
        }
    }
    assert_eq!(seen, ["other"]);
    let now = session.load_conversation().await.unwrap();
    assert_eq!(&*now.active_model().unwrap().name, "other");
}
