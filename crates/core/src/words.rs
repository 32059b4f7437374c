//! The sentences the loop says to the model. Agreed texts are literal; the rest is ours.

/// A call was cut by the output limit.
pub const REISSUE_TOOL_USE: &str =
    "previous response was truncated mid tool_use; reissue the call with valid JSON";

/// Text was cut by the output limit.
pub const CONTINUE_TEXT: &str = "previous response was truncated; continue from where you left off";

/// The result of a run whose model declined.
pub const REFUSAL: &str = "I can't help with that request.";

/// The result of a run whose model ended its turn without a word.
pub const EMPTY_ANSWER: &str = "The model ended its turn without a text answer.";

/// The output ran on into a turn that is not the model's.
pub const REPROMPT: &str = "previous response went on to write the user's turn and was discarded; answer again, and stop \
     at the end of your own turn";

/// Stands before a foreign history that begins with the model.
pub const BEGINS_WITH_REPLY: &str = "[the conversation begins with a reply]";

/// Stands where old messages were.
#[must_use]
pub fn left_out(segments: usize) -> String {
    format!("[{segments} earlier parts of this conversation were left out to make room]")
}
