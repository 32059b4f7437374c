//! Control requests from the SDK. A request that is not known gets the error of the protocol; none
//! ends the process.

mod file_requests;
mod mcp_requests;
mod rewind_requests;
mod session_info;
mod session_settings;
mod task_requests;

use serde_json::{Value, json};

use super::channel_loop::Channel;
use super::frame_writer::{FrameWriter, OutputClosed};
use super::host_servers;
use super::incoming::ControlRequest;

/// The answer to a request: an object, or the text of an error.
pub(super) type ControlAnswer = Result<Value, String>;

/// Handles a request and answers it.
pub(super) async fn handle(
    channel: &mut Channel,
    request: ControlRequest,
) -> Result<(), OutputClosed> {
    let answer = match request.subtype.as_str() {
        "interrupt" => return task_requests::interrupt(channel, &request).await,
        "initialize" => Err("the session is initialized already".to_owned()),
        "set_permission_mode" => session_settings::set_permission_mode(channel, &request).await,
        "set_model" => session_settings::set_model(channel, &request).await,
        "set_max_thinking_tokens" => {
            session_settings::set_max_thinking_tokens(channel, &request).await
        }
        "apply_flag_settings" | "update_settings" => {
            session_settings::apply_settings(channel, &request).await
        }
        "get_settings" => session_settings::get_settings(channel),
        "list_permission_rules" => session_settings::list_permission_rules(channel),
        "get_context_usage" => session_info::get_context_usage(channel).await,
        "get_session_cost" | "get_usage" => session_info::get_session_cost(channel).await,
        "get_binary_version" => session_info::get_binary_version(),
        "list_models" => session_info::list_models(channel),
        "reload_plugins" | "reload_skills" | "reload_output_styles" => {
            session_info::list_commands(channel)
        }
        "mcp_status" => Ok(json!({ "mcpServers": host_servers::describe(&channel.setup.mcp) })),
        "mcp_reconnect" | "mcp_toggle" => mcp_requests::change_server(channel, &request).await,
        "mcp_set_servers" => mcp_requests::set_servers(channel, &request).await,
        "read_file" => file_requests::read_file(channel, &request),
        "seed_read_state" => file_requests::seed_read_state(channel, &request),
        "rewind_files" => rewind_requests::rewind_files(channel, &request).await,
        "stop_task" => task_requests::stop_task(channel, &request).await,
        "background_tasks" => Ok(json!({})),
        "cancel_async_message" => task_requests::cancel_async_message(channel, &request),
        other => Err(unsupported(other)),
    };
    let changed_mode = (request.subtype == "set_permission_mode" && answer.is_ok())
        .then(|| session_settings::mode_status(channel));
    respond(&channel.writer, &request.id, answer).await?;
    match changed_mode {
        Some(status) => channel.write_event(status).await,
        None => Ok(()),
    }
}

/// The error for a request that is not supported.
fn unsupported(subtype: &str) -> String {
    format!("Unsupported control request subtype: {subtype}")
}

/// Answers a request.
pub(super) async fn respond(
    writer: &FrameWriter,
    request_id: &str,
    answer: ControlAnswer,
) -> Result<(), OutputClosed> {
    let response = match answer {
        Ok(response) => {
            json!({"subtype": "success", "request_id": request_id, "response": response})
        }
        Err(error) => json!({"subtype": "error", "request_id": request_id, "error": error}),
    };
    writer.send(&json!({"type": "control_response", "response": response})).await
}
