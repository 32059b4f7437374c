//! Blocks of all kinds.

use windlass_core::raw::Raw;

use crate::world::dice::Dice;
use crate::world::tools::NAMES;

/// Something said; it names its lane.
pub(super) fn speech(dice: &mut Dice, lane: &str, odd: bool) -> Raw {
    let text = if odd { odd_text(dice, lane) } else { format!(r#""{lane}- said it""#) };
    raw(format!(r#"{{"type":"text","text":{text}}}"#))
}

fn odd_text(dice: &mut Dice, lane: &str) -> String {
    match dice.below(6) {
        0 => r#""""#.to_owned(),
        1 => r#""   \n""#.to_owned(),
        2 => format!(r#""{lane}- {}""#, "long ".repeat(200)),
        3 => format!(r#""{lane}- שלום עולם 🪢🏽 \u0000""#),
        4 => format!(r#""{lane}- \ud800 alone""#),
        _ => format!(r#""{lane}- \"quoted\" \\ ""#),
    }
}

/// Something that is neither speech nor a call of ours.
pub(super) fn other(dice: &mut Dice, lane: &str) -> Raw {
    let text = match dice.below(4) {
        0 => format!(r#"{{"type":"thinking","thinking":"{lane}- hm","signature":"s=="}}"#),
        1 => r#"{"type":"redacted_thinking","data":"\ud83e"}"#.to_owned(),
        2 => format!(r#"{{"type":"not_yet_invented","of":"{lane}-","n":1e999}}"#),
        _ => r#"{"type":"server_tool_use","id":"s1","name":"web","input":{"q":1}}"#.to_owned(),
    };
    raw(text)
}

/// A call; `odd` ones name no tool, repeat ids or bring no object.
pub(super) fn call(dice: &mut Dice, lane: &str, id: &str, odd: bool) -> Raw {
    let name = if odd && dice.chance(20) { "no_such_tool" } else { dice.pick(&NAMES) };
    let on = dice.pick(&["a", "a", "b", "b/c", "b/d", "c"]);
    let n = dice.below(1_000);
    let input = match dice.below(8) {
        0 if odd => "[1,2]".to_owned(),
        1 if odd => "null".to_owned(),
        2 if odd => r#"{"misfit":true}"#.to_owned(),
        3 if odd => format!(r#"{{"on":"{on}","\ud800":"\udfff"}}"#),
        _ => format!(r#"{{"on":"{on}","n":{n},"of":"{lane}-"}}"#),
    };
    raw(format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#))
}

/// A call that was announced and never came.
pub(super) fn other_call() -> Raw {
    raw(r#"{"type":"tool_use","id":"ghost","name":"read","input":{"on":"ghost"}}"#.to_owned())
}

fn raw(text: String) -> Raw {
    Raw::parse(text).unwrap_or_else(|_| Raw::encode(&serde_json::json!({ "type": "unparsable" })))
}
