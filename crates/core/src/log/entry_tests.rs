use std::sync::Arc;

use crate::log::entry::{Entry, LogError};
use crate::log::ids::{RunId, UnixMillis};
use crate::log::inbox::{InboxCommand, InboxMessage};
use crate::log::input::Input;
use crate::log::record::Record;
use crate::run::conversation::Conversation;
use crate::settings::conversation_settings::{ModelSpec, Settings};

fn log() -> Vec<Entry> {
    let settings = Arc::new(Settings::new(ModelSpec::with_defaults("m")));
    let prompt = |run: &str| {
        InboxCommand::prompt(
            RunId::from(run),
            vec![crate::message::content_block::ContentBlock::text("hi")],
        )
    };
    let inputs = [
        Input::Configured { settings },
        Input::CommandsReceived { messages: vec![InboxMessage { id: 1, body: prompt("a") }] },
        Input::CommandsReceived { messages: vec![InboxMessage { id: 2, body: prompt("b") }] },
    ];
    let mut conversation = Conversation::default();
    let mut log = Vec::new();
    for (at, input) in (10..).zip(inputs) {
        let entry = Entry::decide(&conversation, UnixMillis(at), input).unwrap();
        conversation.fold(&entry).unwrap();
        log.push(entry.to_durable().unwrap());
    }
    log
}

// spec: LOG-01
#[test]
fn entries_are_dense_from_one() {
    let log = log();
    assert_eq!(log.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(Conversation::replay(&log).unwrap().head, 3);
}

#[test]
fn gaps_and_doubles_are_named() {
    let log = log();
    let rows: [(&[usize], Seqs); 5] = [
        (&[0, 2], Seqs { expected: 2, found: 3 }),
        (&[0, 1, 1], Seqs { expected: 3, found: 2 }),
        (&[1], Seqs { expected: 1, found: 2 }),
        (&[0, 0], Seqs { expected: 2, found: 1 }),
        (&[2, 1, 0], Seqs { expected: 1, found: 3 }),
    ];
    for (order, Seqs { expected, found }) in rows {
        let shuffled: Vec<&Entry> = order.iter().map(|&index| &log[index]).collect();
        let error = Conversation::replay(shuffled).unwrap_err();
        assert_eq!(error, LogError::SequenceGap { expected, found });
        assert!(error.to_string().contains("restore it from a backup"), "{error}");
    }
}

struct Seqs {
    expected: u64,
    found: u64,
}

// spec: LOG-04, FAULT-57
#[test]
fn unknown_kinds_and_versions_are_named() {
    let line = log()[1].encode();
    let rows = [
        (line.replace("commands_received/1", "received/2"), "received/2"),
        (line.replace("commands_received/1", "telepathy/1"), "telepathy/1"),
        (line.replace("run_started/1", "run_started/9"), "run_started/9"),
        (line.replace("prompt/1", "prompt/2"), "prompt/2"),
        (line.replace("\"transition\":\"prompt\"", "\"transition\":\"whim\""), "whim"),
    ];
    for (line, kind) in rows {
        let error = Entry::parse(7, &line).unwrap_err();
        assert_eq!(error, LogError::UnknownTag { at: 7, kind: kind.to_owned() });
        assert!(error.to_string().contains("upgrade to read it"), "{error}");
    }
}

#[test]
fn malformed_lines_are_named() {
    let line = log()[1].encode();
    let rows = [
        String::new(),
        "{".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        "{}".to_owned(),
        line.replace("\"seq\":2", "\"seq\":-2"),
        line.replace("\"seq\":2", "\"seq\":2.5"),
        line.replace("\"seq\":2", "\"seq\":18446744073709551616"),
        line.replace("\"seq\":2", "\"seq\":2,\"extra\":1"),
        line.replace("\"seq\":2", "\"seq\":2,\"seq\":2"),
        line.replace("\"seq\":2,", ""),
        line.replace("\"model_call\":1", "\"model_call\":4294967296"),
        format!("{line}x"),
        line[..line.len() / 2].to_owned(),
    ];
    for line in rows {
        let error = Entry::parse(7, &line).unwrap_err();
        assert!(matches!(error, LogError::Malformed { at: 7, .. }), "{line}: {error}");
        assert!(error.to_string().contains("restore the log from a backup"), "{error}");
    }
}

// spec: LOG-03
#[test]
fn a_log_that_was_tampered_with_is_found() {
    let mut log = log();
    let Record::ModelCallStarted { max_tokens, .. } = &mut log[1].records[2] else {
        panic!("not asked")
    };
    *max_tokens += 1;
    let mut conversation = Conversation::default();
    conversation.verify(&log[0]).unwrap();
    assert_eq!(conversation.verify(&log[1]), Err(LogError::Diverged { at: 2 }));
    // Folding trusts what was recorded.
    assert!(Conversation::replay(&log).is_ok());
}

#[test]
fn entries_are_read_as_they_were_written() {
    for entry in log() {
        let line = entry.encode();
        assert_eq!(Entry::parse(entry.seq, &line).unwrap(), entry);
        assert_eq!(Entry::parse(entry.seq, &line).unwrap().encode(), line);
    }
}

#[test]
fn an_input_that_settles_nothing_leaves_no_entry() {
    assert_eq!(Entry::decide(&Conversation::default(), UnixMillis(1), Input::TimerFired {}), None);
}

#[test]
fn records_that_do_not_fit_change_nothing() {
    let call = crate::log::ids::CallId { model_call: 1, index: 0 };
    let strays = [
        Record::RoundClosed {},
        Record::CallStarted { call },
        Record::CallReturned { call },
        Record::ResultFinalized { call, result: crate::log::record::RecordedResult::Unchanged {} },
        Record::ReplyKept {},
        Record::PromptQueued { message: u64::MAX },
        Record::SteeringQueued { message: 0 },
        Record::PromptChangeAccepted {},
        Record::Configured {},
        Record::CallLost { call },
        Record::CallInputChanged { call, message: None },
    ];
    for record in strays {
        let records = vec![record];
        let entry = Entry { seq: 1, at: UnixMillis(1), input: Input::TimerFired {}, records };
        let mut conversation = Conversation::default();
        conversation.fold(&entry).unwrap();
        let untouched = Conversation {
            head: 1,
            at: UnixMillis(1),
            active_time_counted_to: UnixMillis(1),
            ..Conversation::default()
        };
        assert_eq!(conversation, untouched, "{entry:?}");
    }
}
