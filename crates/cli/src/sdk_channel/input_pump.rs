//! Routes messages from the SDK: answers go straight to the request that waits for them, everything
//! else to the loop of the channel. Answers therefore arrive even while the loop itself waits for
//! one.

use tokio::sync::mpsc;

use super::host_requests::HostRequests;
use super::incoming::{ControlRequest, Incoming, UserPrompt};
use super::input_reader::{InputError, InputReader};

/// Maximum number of messages that wait for the loop. More would mean that a program sends without
/// reading.
const MAX_WAITING: usize = 4_096;

/// Something that the loop of the channel handles.
#[derive(Debug)]
pub(super) enum ChannelEvent {
    /// A user message.
    Prompt(Box<UserPrompt>),
    /// The SDK requests something.
    Request(ControlRequest),
    /// The SDK withdraws a request.
    Withdrawal,
    /// Standard input ended: nothing more will be asked.
    InputEnded,
    /// Standard input cannot be used any more.
    InputFailed(InputError),
}

/// Starts to route messages; returns those for the loop.
pub(super) fn start(input: InputReader, host: HostRequests) -> mpsc::Receiver<ChannelEvent> {
    let (sender, events) = mpsc::channel(MAX_WAITING);
    tokio::spawn(async move {
        let last = route_messages(input, &host, &sender).await;
        // No answer can arrive any more.
        host.close();
        let _ = sender.send(last).await;
    });
    events
}

/// Routes messages until the input ends.
async fn route_messages(
    mut input: InputReader,
    host: &HostRequests,
    sender: &mpsc::Sender<ChannelEvent>,
) -> ChannelEvent {
    loop {
        let event = match input.next().await {
            Ok(Some(Incoming::Response(response))) => {
                host.deliver(response);
                continue;
            }
            Ok(Some(Incoming::Nothing)) => continue,
            Ok(Some(Incoming::User(prompt))) => ChannelEvent::Prompt(prompt),
            Ok(Some(Incoming::Request(request))) => ChannelEvent::Request(request),
            Ok(Some(Incoming::Cancel { .. })) => ChannelEvent::Withdrawal,
            Ok(None) => return ChannelEvent::InputEnded,
            Err(error) => return ChannelEvent::InputFailed(error),
        };
        if let Err(mpsc::error::TrySendError::Full(_)) = sender.try_send(event) {
            return ChannelEvent::InputFailed(InputError::TooMany(MAX_WAITING));
        }
    }
}
