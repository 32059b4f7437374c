use windlass_core::facts::Repeat;
use windlass_runtime::ports::{CallContext, Tool};

use super::is_lookup;
use crate::Custom;

// spec: ROUNDS-17
#[test]
fn lookups_are_known_by_their_names() {
    for name in [
        "search_knowledge",
        "get_notes",
        "list_orders",
        "query_dataset",
        "read_file",
        "listOpenOrders",
        "fetch-page",
        "Find",
    ] {
        assert!(is_lookup(name), "{name}");
    }
    for name in [
        "send_email",
        "save_content",
        "create_task",
        "update_note",
        "get_or_create_user",
        "readAndDelete",
        "get_next_job",
        "listen",
        "getaway",
        "haul",
        "",
        "_",
    ] {
        assert!(!is_lookup(name), "{name}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn facts(name: &str, repeat: Option<Repeat>) -> windlass_core::facts::Facts {
    let run = |_: CallContext, _: Nothing| async { Ok(String::new()) };
    let tool = Custom::new(name, "A tool.", run);
    let tool = if let Some(repeat) = repeat { tool.repeat(repeat) } else { tool };
    tool.timeout_ms(5_000).assess(&windlass_core::raw::Raw::parse("{}").unwrap())
}

// spec: ROUNDS-12, ROUNDS-17
#[test]
fn a_tool_of_ones_own_runs_alone_and_says_the_rest_itself_if_it_likes() {
    let looks = facts("list_orders", None);
    assert_eq!((looks.repeat, looks.timeout_ms), (Repeat::Repeatable, 5_000));
    assert_eq!(facts("send_email", None).repeat, Repeat::OnceOnly);
    assert_eq!(facts("list_orders", Some(Repeat::OnceOnly)).repeat, Repeat::OnceOnly);
    assert_eq!(facts("haul", Some(Repeat::Repeatable)).repeat, Repeat::Repeatable);
    for name in ["list_orders", "haul"] {
        let facts = facts(name, None);
        assert_eq!(facts.touches, windlass_core::order::Touches::Exclusive);
        assert!(!facts.only_looks(), "a name lets nothing run without leave");
    }
}
