use super::*;
use crate::wire::reported_usage::ReportedUsage;

const START: &str =
    r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":7,"output_tokens":1}}}"#;
const END: &str = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}"#;

fn tokens(used: &MessagesUsage) -> (u64, u64) {
    let ReportedUsage { input, output, .. } = used.to_reported();
    (input.value_or(0), output.value_or(0))
}

#[test]
fn usual_ends_are_read() {
    let begun = parse_message_start(START).unwrap();
    assert_eq!(tokens(&begun), (7, 1));
    let padded = START.replace("}}}", "}}   }");
    assert_eq!(tokens(&parse_message_start(&padded).unwrap()), tokens(&begun));
    let ended = parse_message_end(END).unwrap();
    assert_eq!((&*ended.delta.stop_reason, ended.delta.stop_sequence), ("tool_use", None));
    assert_eq!(tokens(&ended.usage), (0, 9));
    let sequence = END.replace("null", r#""\n\"""#);
    assert_eq!(parse_message_end(&sequence).unwrap().delta.stop_sequence.as_deref(), Some("\n\""));
}

#[test]
fn whatever_is_in_doubt_is_left_to_the_parser() {
    let more = START.replace("}}}", r#"}},"more":{"a":{}}}"#);
    let twice = START.replace(r#""id":"m""#, r#""usage":{},"id":"m""#);
    let broken = START.replace(":7", ":");
    let none = r#"{"type":"message_start","message":null}"#;
    let list = r#"{"type":"message_start","message":[{"input_tokens":7}]}"#;
    for data in [more.as_str(), &twice, &broken, none, list, END] {
        assert!(parse_message_start(data).is_none(), "{data}");
    }
    let no_reason = END.replace("\"tool_use\"", "null");
    let no_usage = END.replace("\"usage\"", "\"other\"");
    for data in [no_reason.as_str(), &no_usage, START, "{\"type\":\"message_delta\","] {
        assert!(parse_message_end(data).is_none(), "{data}");
    }
}
