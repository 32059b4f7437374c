//! Content blocks of all kinds.

use windlass_core::message::raw_json::RawJson;

use crate::world::seeded_rng::SeededRng;
use crate::world::tools::NAMES;

/// Returns a text block; it names its lane.
pub(super) fn speech(rng: &mut SeededRng, lane: &str, odd: bool) -> RawJson {
    let text = if odd { odd_text(rng, lane) } else { format!(r#""{lane}- said it""#) };
    raw(format!(r#"{{"type":"text","text":{text}}}"#))
}

fn odd_text(rng: &mut SeededRng, lane: &str) -> String {
    match rng.below(6) {
        0 => r#""""#.to_owned(),
        1 => r#""   \n""#.to_owned(),
        2 => format!(r#""{lane}- {}""#, "long ".repeat(200)),
        3 => format!(r#""{lane}- שלום עולם 🪢🏽 \u0000""#),
        4 => format!(r#""{lane}- \ud800 alone""#),
        _ => format!(r#""{lane}- \"quoted\" \\ ""#),
    }
}

/// Returns a block that is neither text nor a call of ours.
pub(super) fn other(rng: &mut SeededRng, lane: &str) -> RawJson {
    let text = match rng.below(4) {
        0 => format!(r#"{{"type":"thinking","thinking":"{lane}- hm","signature":"s=="}}"#),
        1 => r#"{"type":"redacted_thinking","data":"\ud83e"}"#.to_owned(),
        2 => format!(r#"{{"type":"not_yet_invented","of":"{lane}-","n":1e999}}"#),
        _ => r#"{"type":"server_tool_use","id":"s1","name":"web","input":{"q":1}}"#.to_owned(),
    };
    raw(text)
}

/// Returns a call; `odd` ones name no tool, repeat ids or send no object.
pub(super) fn call(rng: &mut SeededRng, lane: &str, id: &str, odd: bool) -> RawJson {
    let name = if odd && rng.chance(20) { "no_such_tool" } else { rng.pick(&NAMES) };
    let on = rng.pick(&["a", "a", "b", "b/c", "b/d", "c"]);
    let n = rng.below(1_000);
    let input = match rng.below(8) {
        0 if odd => "[1,2]".to_owned(),
        1 if odd => "null".to_owned(),
        2 if odd => r#"{"misfit":true}"#.to_owned(),
        3 if odd => format!(r#"{{"on":"{on}","\ud800":"\udfff"}}"#),
        _ => format!(r#"{{"on":"{on}","n":{n},"of":"{lane}-"}}"#),
    };
    raw(format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#))
}

/// Returns a call that was announced and never sent.
pub(super) fn other_call() -> RawJson {
    raw(r#"{"type":"tool_use","id":"ghost","name":"read","input":{"on":"ghost"}}"#.to_owned())
}

fn raw(text: String) -> RawJson {
    RawJson::parse(text)
        .unwrap_or_else(|_| RawJson::encode(&serde_json::json!({ "type": "unparsable" })))
}
