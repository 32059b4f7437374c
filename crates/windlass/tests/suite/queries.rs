//! `query` and `client`: prompts in a few lines, answered as messages.

use std::path::Path;
use std::sync::{Arc, Mutex};

use futures_util::TryStreamExt;
use windlass::messages::{ContentBlock, ResultSubtype, SystemEvent};
use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::{Approval, ApprovalKind, HookReply, Message, Query, QueryError};

const ONE_COMMAND: &str = r#"
when results 0
  say "I look."
  call Bash {"command": "touch made.txt"}
when any
  say "It said: ${result}"
"#;

fn command_query(folder: &Path) -> Query {
    let script = Script::parse(ONE_COMMAND).unwrap();
    windlass::query("go").script(script).tools(["Bash"]).cwd(folder)
}

/// What a message is, in a word.
fn kind(message: &Message) -> &'static str {
    match message {
        Message::System(system) => match &system.event {
            SystemEvent::Init(_) => "init",
            SystemEvent::PermissionDenied { .. } => "denied",
            _ => "system",
        },
        Message::Assistant(reply) => match reply.message.content.first() {
            Some(ContentBlock::Text(_)) => "text",
            Some(ContentBlock::ToolUse(_)) => "call",
            _ => "block",
        },
        Message::User(_) => "result of a call",
        Message::Result(_) => "result",
        _ => "other",
    }
}

// spec: SDK-01
// spec: SDK-02
// spec: FEED-06
#[tokio::test]
async fn a_query_is_a_stream_that_begins_with_init_and_ends_with_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let stream = command_query(folder.path()).allow("Bash").stream().await.unwrap();
    let messages: Vec<Message> = stream.try_collect().await.unwrap();
    let kinds: Vec<&str> = messages.iter().map(kind).collect();
    assert_eq!(kinds, ["init", "text", "call", "result of a call", "text", "result"]);
    let result = messages.last().and_then(Message::as_result).unwrap();
    assert_eq!(result.subtype, ResultSubtype::Success);
    assert_eq!(result.num_turns, 2);
    assert!(folder.path().join("made.txt").exists());
    let ids: std::collections::BTreeSet<_> = messages.iter().map(Message::session_id).collect();
    assert_eq!(ids.len(), 1, "all messages belong to one conversation");
}

// spec: PERMISSIONS-21
#[tokio::test]
async fn what_needs_approval_is_denied_without_a_callback() {
    let folder = tempfile::tempdir().unwrap();
    let stream = command_query(folder.path()).stream().await.unwrap();
    let messages: Vec<Message> = stream.try_collect().await.unwrap();
    assert!(messages.iter().any(|message| kind(message) == "denied"));
    let result = messages.last().and_then(Message::as_result).unwrap();
    assert_eq!(result.permission_denials.len(), 1);
    assert!(!folder.path().join("made.txt").exists());
}

// spec: PERMISSIONS-21
#[tokio::test]
async fn a_callback_allows_denies_and_is_told_what_it_decides() {
    let folder = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&seen);
    let query = command_query(folder.path()).approve(move |request| {
        asked.lock().unwrap().push(request);
        async { Approval::deny("not on a Friday") }
    });
    let answer = query.text().await.unwrap();
    assert!(answer.contains("not on a Friday"), "{answer}");
    assert!(!folder.path().join("made.txt").exists());
    {
        let seen = seen.lock().unwrap();
        assert_eq!(seen.len(), 1);
        assert_eq!((seen[0].tool_name.as_str(), &seen[0].kind), ("Bash", &ApprovalKind::Call));
        assert_eq!(seen[0].input["command"], "touch made.txt");
        assert_eq!(seen[0].suggested_rule.as_deref(), Some("Bash(touch made.txt)"));
    }
    command_query(folder.path()).approve(|_| async { Approval::Allow }).text().await.unwrap();
    assert!(folder.path().join("made.txt").exists());
}

#[tokio::test]
async fn allowed_always_is_asked_once() {
    const TWICE: &str = r#"
when ask 1
  call Bash {"command": "touch a"}
when ask 2
  call Bash {"command": "touch a"}
when any
  say "Done."
"#;
    let folder = tempfile::tempdir().unwrap();
    let count = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&count);
    let answer = windlass::query("go")
        .script(Script::parse(TWICE).unwrap())
        .tools(["Bash"])
        .cwd(folder.path())
        .approve(move |_| {
            *counted.lock().unwrap() += 1;
            async { Approval::AllowAlways }
        })
        .text()
        .await
        .unwrap();
    assert_eq!((answer.as_str(), *count.lock().unwrap()), ("Done.", 1));
}

#[tokio::test]
async fn a_call_can_be_allowed_with_another_input() {
    let folder = tempfile::tempdir().unwrap();
    let query = command_query(folder.path()).approve(|_| async {
        Approval::AllowWith(serde_json::json!({"command": "touch other.txt"}))
    });
    query.text().await.unwrap();
    assert!(folder.path().join("other.txt").exists());
    assert!(!folder.path().join("made.txt").exists());
}

// spec: SDK-07
#[tokio::test]
async fn a_session_id_continues_a_conversation_in_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let open = || {
        let script = Script::parse("when any\n  say \"${ask}: ${user}\"\n").unwrap();
        windlass::client().script(script).store(SqliteStore::open(&file).unwrap())
    };
    let client = open().open().await.unwrap();
    client.ask("one").await.unwrap();
    let id = client.session_id().to_owned();
    client.windlass().hand_over();
    drop(client);
    let again = open().session_id(&id).open().await.unwrap();
    again.ask("two").await.unwrap();
    let fork = again.fork().await.unwrap();
    fork.ask("three").await.unwrap();
    let prompts = |conversation: windlass::core::Conversation| conversation.model_call_count;
    let of_original = again.session().load_conversation().await.unwrap();
    let of_fork = fork.session().load_conversation().await.unwrap();
    assert_eq!((prompts(of_original), prompts(of_fork)), (2, 3));
}

#[tokio::test]
async fn errors_say_what_to_do() {
    let unknown = windlass::query("go").script(Script::default()).tools(["Reed"]).stream().await;
    let error = unknown.err().unwrap();
    assert!(matches!(error, QueryError::UnknownTool { .. }));
    assert!(error.to_string().starts_with("unknown tool `Reed`; available: "), "{error}");

    let missing = windlass::query("go").script(Script::default()).cwd("/no/such/folder").text();
    let error = missing.await.err().unwrap();
    assert!(error.to_string().starts_with("cannot use the folder /no/such/folder"), "{error}");

    let rule = windlass::query("go").script(Script::default()).allow("Bash(").text();
    assert!(matches!(rule.await.err().unwrap(), QueryError::Build(_)));

    let nameless = windlass::query("go").model("no-such-model-anywhere").text();
    assert!(matches!(nameless.await.err().unwrap(), QueryError::Build(_)));
}

/// A run without a result is an error with everything that is known about it.
#[tokio::test]
async fn a_limit_is_an_error_with_its_result() {
    let script = Script::parse("when any\n  call Glob {\"pattern\": \"${ask}\"}\n").unwrap();
    let query = windlass::query("go").script(script).tools(["Glob"]).max_turns(2);
    let Err(QueryError::NoResult(result)) = query.text().await else { panic!("no error") };
    assert_eq!(result.subtype, ResultSubtype::ErrorMaxTurns);
    assert_eq!(result.stop_cause.as_deref(), Some("max_iters"));
}

#[tokio::test]
async fn hooks_by_event_name_decide_about_calls_prompts_and_the_end() {
    let script =
        "when results 0\n  call Bash {\"command\": \"echo one\"}\nwhen any\n  say \"${result}\"\n";
    let query = || windlass::query("go").script(Script::parse(script).unwrap()).tools(["Bash"]);
    let allowed = query().hook("PreToolUse", |_| async { HookReply::Allow });
    assert!(allowed.text().await.unwrap().contains("one"));
    let denied = query().allow("Bash").hook("PreToolUse", |_| async { HookReply::deny("no echo") });
    assert!(denied.text().await.unwrap().contains("no echo"));
    let other =
        query().allow("Bash").hook_for("PreToolUse", "Read", |_| async { HookReply::deny("x") });
    assert!(other.text().await.unwrap().contains("one"));
    let changed = query().allow("Bash").hook("PreToolUse", |_| async {
        HookReply::ChangeInput(serde_json::json!({"command": "echo two"}))
    });
    assert!(changed.text().await.unwrap().contains("two"));
    let blocked = query().hook("UserPromptSubmit", |event| async move {
        assert_eq!(event.prompt(), "go");
        HookReply::deny("not today")
    });
    assert!(blocked.text().await.unwrap_err().to_string().contains("not today"));
}

#[tokio::test]
async fn a_hook_for_an_unknown_event_is_an_error() {
    let query = windlass::query("go").script(Script::parse("when any\n  say \"x\"\n").unwrap());
    let error = query.hook("PreToolUsed", |_| async { HookReply::Pass }).text().await.unwrap_err();
    assert!(error.to_string().contains("PreToolUsed"), "{error}");
}

/// The second call waits until this reader has seen the line about the first one.
// spec: FEED-07
#[tokio::test]
async fn lines_about_calls_are_messages_for_a_reader_that_asks() {
    const WORK: &str = r#"
when user contains "Call: Bash" and user contains "notes"
  say "Printed the notes"
when user contains "Call: "
  delay 600s
  say "Too late"
when results 0
  call Bash as toolu_first {"command": "echo notes"}
when result contains "notes"
  call Bash as toolu_second {"command": "while [ ! -e seen ]; do sleep 0.05; done"}
when any
  say "Done."
"#;
    let folder = tempfile::tempdir().unwrap();
    let query = || {
        let script = Script::parse(WORK).unwrap();
        windlass::query("go").script(script).tools(["Bash"]).allow("Bash").cwd(folder.path())
    };
    let mut stream = query().tool_use_summaries().stream().await.unwrap();
    let mut summaries = Vec::new();
    let mut last = None;
    while let Some(message) = stream.try_next().await.unwrap() {
        if let Message::ToolUseSummary(summary) = &message {
            std::fs::write(folder.path().join("seen"), "").unwrap();
            summaries.push(summary.clone());
        }
        last = Some(message);
    }
    let told: Vec<_> =
        summaries.iter().map(|one| (&*one.summary, &one.preceding_tool_use_ids)).collect();
    assert_eq!(told, [("Printed the notes", &vec!["toolu_first".to_owned()])]);
    let result = last.as_ref().and_then(Message::as_result).unwrap();
    assert_eq!(result.result.as_deref(), Some("Done."));
    let others: Vec<Message> = query().stream().await.unwrap().try_collect().await.unwrap();
    assert!(!others.iter().any(|message| matches!(message, Message::ToolUseSummary(_))));
}

/// What a session holds: its messages, its usage, the files it has read; in every process.
// spec: SDK-08
#[tokio::test]
async fn a_session_holds_messages_usage_and_files_read() {
    const READS: &str = r#"
when user is "read" and results 0
  usage in 100 out 10
  call Read {"file_path": "a.txt"}
when user is "edit" and results 0
  call Edit {"file_path": "a.txt", "old_string": "one", "new_string": "two"}
when any
  usage in 100 out 10
  say "It said: ${result}"
"#;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    let store = folder.path().join("w.db");
    let open = || async {
        windlass::client()
            .script(Script::parse(READS).unwrap())
            .tools(["Read", "Edit"])
            .allow("Edit")
            .cwd(folder.path())
            .store(SqliteStore::open(&store).unwrap())
            .session_id("one-session")
            .open()
            .await
            .unwrap()
    };
    let client = open().await;
    client.ask("read").await.unwrap();
    let root = folder.path().canonicalize().unwrap();
    assert_eq!(client.files_read().await.unwrap(), [root.join("a.txt")]);
    let first = client.usage().await.unwrap();
    assert_eq!((first.tokens.input_tokens, first.tokens.output_tokens), (200, 20));
    let messages = client.history().await.unwrap().len();
    client.close().await;

    let client = open().await;
    assert_eq!(client.history().await.unwrap().len(), messages);
    assert_eq!(client.usage().await.unwrap(), first);
    let explained = client.explain(None).await.unwrap().unwrap();
    assert!(explained.facts.failed_calls.is_empty());
    assert_eq!(explained.info.cause, Some(windlass::StopCause::EndTurn));
    client.ask("edit").await.unwrap();
    assert!(client.usage().await.unwrap().tokens.input_tokens >= 300);
    assert_eq!(
        client.windlass().stats(windlass::core::log::ids::UnixMillis(0)).await.unwrap().runs,
        2
    );
}

#[tokio::test]
async fn a_session_is_compacted_at_once() {
    const TALK: &str = "when user contains \"Summarise the conversation\"\n  say \"So far: talk.\"\n\
                        when any\n  say \"You said: ${user}\"\n";
    let client = windlass::client().script(Script::parse(TALK).unwrap());
    let client = client.settings(|it| it.limits.kept_messages = 4).open().await.unwrap();
    let early = client.compact_now(None).await.unwrap().result().await;
    assert!(early.is_err() || early.unwrap().is_error, "there is nothing to compact");
    for n in 0..9 {
        client.ask(format!("number {n}")).await.unwrap();
    }
    let stream = client.compact_now(Some("the numbers")).await.unwrap();
    let messages: Vec<Message> = stream.try_collect().await.unwrap();
    let is_boundary = |message: &&Message| match message {
        Message::System(system) => matches!(system.event, SystemEvent::CompactBoundary { .. }),
        _ => false,
    };
    assert_eq!(messages.iter().filter(is_boundary).count(), 1, "{messages:?}");
    let result = messages.last().and_then(Message::as_result).unwrap();
    assert_eq!((result.subtype, result.num_turns), (ResultSubtype::Success, 0));
    assert_eq!(client.ask("on").await.unwrap(), "You said: on");
}

#[tokio::test]
async fn a_prompt_is_taken_back_with_what_it_did_to_files() {
    const WRITES: &str = r#"
when user contains "write" and results 0
  call Write {"file_path": "note.txt", "content": "${user}"}
when any
  say "You said: ${user}"
"#;
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("note.txt");
    let client = windlass::client()
        .script(Script::parse(WRITES).unwrap())
        .tools(["Read", "Write"])
        .allow("Edit")
        .allow("Write")
        .cwd(folder.path())
        .open()
        .await
        .unwrap();
    assert!(client.rewind(None).await.is_err(), "there is no prompt");
    client.ask("write one").await.unwrap();
    assert!(client.rewind(None).await.is_err(), "nothing would be left");
    client.ask("write two").await.unwrap();
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "write two");
    client.rewind(None).await.unwrap();
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "write one");
    client.ask("write three").await.unwrap();
    std::fs::write(&note, "by someone else").unwrap();
    let refused = client.rewind(None).await.unwrap_err().to_string();
    assert!(refused.contains("note.txt"), "{refused}");
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "by someone else");
    assert!(client.rewind(Some("no-such-message")).await.is_err());
}
