use super::*;
use crate::sdk_channel::frame_writer::test_output;

const LONG: Duration = Duration::from_secs(60);

fn answer(id: &str, value: Value) -> ControlResponse {
    ControlResponse { request_id: id.to_owned(), result: Ok(value) }
}

fn request_id(frame: &Value) -> &str {
    assert_eq!(frame["type"], "control_request");
    frame["request_id"].as_str().unwrap()
}

#[tokio::test]
async fn answers_find_their_request_in_any_order() {
    let (writer, mut frames) = test_output();
    let requests = HostRequests::new(writer);
    let (first, second) = (requests.clone(), requests.clone());
    let first = tokio::spawn(async move { first.send(json!({"n": 1}), LONG).await });
    let one = frames.next().await;
    let second = tokio::spawn(async move { second.send(json!({"n": 2}), LONG).await });
    let two = frames.next().await;
    requests.deliver(answer("unknown", json!(0)));
    requests.deliver(answer(request_id(&two), json!("two")));
    requests.deliver(answer(request_id(&one), json!("one")));
    assert_eq!(first.await.unwrap(), Ok(json!("one")));
    assert_eq!(second.await.unwrap(), Ok(json!("two")));
}

#[tokio::test]
async fn a_request_that_no_one_waits_for_is_withdrawn() {
    let (writer, mut frames) = test_output();
    let requests = HostRequests::new(writer);
    let sender = requests.clone();
    let sending = tokio::spawn(async move { sender.send(json!({}), LONG).await });
    let sent = frames.next().await;
    sending.abort();
    let withdrawn = frames.next().await;
    let expected = json!({"type": "control_cancel_request", "request_id": request_id(&sent)});
    assert_eq!(withdrawn, expected);
}

#[tokio::test]
async fn a_request_that_is_not_answered_in_time_fails_and_is_withdrawn() {
    let (writer, mut frames) = test_output();
    let requests = HostRequests::new(writer);
    let short = Duration::from_millis(1);
    let answer = requests.send(json!({}), short).await;
    assert_eq!(answer, Err(HostRequestError::TimedOut(short)));
    assert_eq!(frames.next().await["type"], "control_request");
    assert_eq!(frames.next().await["type"], "control_cancel_request");
}

#[tokio::test]
async fn nothing_waits_for_an_answer_that_cannot_come() {
    let (writer, mut frames) = test_output();
    let requests = HostRequests::new(writer);
    let sender = requests.clone();
    let sending = tokio::spawn(async move { sender.send(json!({}), LONG).await });
    frames.next().await;
    requests.close();
    assert_eq!(sending.await.unwrap(), Err(HostRequestError::Closed));
    assert_eq!(requests.send(json!({}), LONG).await, Err(HostRequestError::Closed));
}
