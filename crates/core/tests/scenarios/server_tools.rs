//! The tools of servers change while a run is active.

use std::sync::Arc;

use windlass_core::log::input::Input;
use windlass_core::message::raw_json::RawJson;
use windlass_core::settings::conversation_settings::{Settings, ToolSpec};
use windlass_core::settings::run_settings::RunSettings;

use crate::kit::{Lane, call, calls, rule, settings, text};

fn tool(name: &str, description: &str) -> ToolSpec {
    ToolSpec {
        name: Arc::from(name),
        description: Arc::from(description),
        input_schema: RawJson::string(""),
    }
}

fn offer(tools: &[ToolSpec]) -> Input {
    Input::ServerToolsOffered { tools: tools.to_vec() }
}

/// The tools of servers that the next model call is offered.
fn offered(settings: Option<&Arc<Settings>>) -> Vec<String> {
    settings.unwrap().server_tools().map(|tool| tool.name.to_string()).collect()
}

#[test]
fn a_list_is_taken_between_two_model_calls_and_not_during_one() {
    let (a, b) = (tool("mcp__s__a", "A"), tool("mcp__s__b", "B"));
    let lane = Lane::new().input(offer(std::slice::from_ref(&a))).records_nothing();
    let lane = lane.prompt("go").input(offer(std::slice::from_ref(&a))).records_nothing();
    let lane = lane.reply(calls([call("t1", "read", "x")]));
    let hash = lane.live.prompt_hash.clone();
    let lane = lane.input(offer(std::slice::from_ref(&a))).records("server_tools_changed");
    assert_eq!(offered(lane.live.settings.as_ref()), ["mcp__s__a"]);
    // The same list again changes nothing.
    let lane = lane.input(offer(&[a])).records_nothing();
    let lane = lane.input(offer(&[tool("mcp__s__a", "other"), b])).records("server_tools_changed");
    assert_eq!(offered(lane.live.run_owner.as_ref()), ["mcp__s__a", "mcp__s__b"]);
    // A server that comes or goes is no change of the prompt that a person has to accept.
    assert_eq!(lane.live.prompt_hash, hash);
    let lane = lane.returns(0, "X").reply(text("done"));
    assert_eq!(offered(lane.live.owner_settings.as_ref()), ["mcp__s__a", "mcp__s__b"]);
}

#[test]
fn a_new_owner_with_other_servers_needs_no_approval() {
    let mut other = settings();
    other.set_server_tools(&[tool("mcp__s__a", "A")]);
    let lane = Lane::new().prompt("go").reply(calls([call("t1", "read", "x")]));
    let lane = lane.owner_changes_with_settings(&other).not_parked();
    let lane = lane.input(offer(&[tool("mcp__s__a", "A")])).records("server_tools_changed");
    assert_eq!(offered(lane.live.settings.as_ref()), ["mcp__s__a"]);
}

#[test]
fn a_run_is_not_offered_a_tool_that_its_rules_deny() {
    let mut own = settings();
    own.rules.disallowed = vec![rule("mcp__s__b")];
    let own = RunSettings::from_settings(&own);
    let (a, b) = (tool("mcp__s__a", "A"), tool("mcp__s__b", "B"));
    let mut owner = settings();
    owner.set_server_tools(&[a, b]);
    let in_force = own.apply_over(&owner);
    let names: Vec<_> = in_force.server_tools().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["mcp__s__a"]);
}
