use super::*;
use crate::sdk_channel::frame_writer::test_output;

#[tokio::test]
async fn a_state_is_reported_once_and_waiting_comes_before_working() {
    let (writer, mut frames) = test_output();
    let state = SessionState::new(writer, StateReaders::Sdk);
    state.set_running("s", false).await.unwrap();
    state.set_running("s", true).await.unwrap();
    state.set_running("s", true).await.unwrap();
    state.begin_prompt("s").await.unwrap();
    state.begin_prompt("s").await.unwrap();
    state.end_prompt("s").await.unwrap();
    state.end_prompt("s").await.unwrap();
    state.set_running("s", false).await.unwrap();
    for name in ["running", "requires_action", "running", "idle"] {
        let frame = frames.next().await;
        assert_eq!((&frame["state"], &frame["sdk_host_only"]), (&json!(name), &json!(true)));
        assert_eq!(
            (&frame["subtype"], &frame["session_id"]),
            (&json!("session_state_changed"), &json!("s"))
        );
    }
}

#[tokio::test]
async fn a_program_gets_frames_without_the_mark_of_the_sdk() {
    let (writer, mut frames) = test_output();
    SessionState::new(writer, StateReaders::Program).set_running("s", true).await.unwrap();
    assert_eq!(frames.next().await.get("sdk_host_only"), None);
}
