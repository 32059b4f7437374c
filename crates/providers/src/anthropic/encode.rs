//! The messages of a request in their own shape: blocks are copied as they stand.

use memchr::memmem;
use serde::Deserialize;
use windlass_core::block::{Block, Kind};
use windlass_core::transcript::{Role, Segment};

use crate::encodings::{Encode, Written};
use crate::foreign;
use crate::wire::Thoughts;

/// Writes messages: neighbouring segments of one role are one message.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) thoughts: Thoughts,
}

impl Encode for Messages {
    /// Whose message is open.
    type Open = Option<Role>;

    fn segment(
        &self,
        open: Option<Role>,
        segment: &Segment,
        out: &mut Vec<u8>,
    ) -> Written<Option<Role>> {
        let mut written = Written { open, splice: None };
        for block in segment.blocks.iter().filter(|block| self.shows(block)) {
            out.extend_from_slice(join(written.open, segment.role));
            out.extend_from_slice(block.raw().text().as_bytes());
            written.open = Some(segment.role);
            if is_markable(block) {
                written.splice = Some(out.len() - 1);
            }
        }
        written
    }

    fn close(&self, open: Option<Role>) -> &'static [u8] {
        if open.is_some() { b"]}" } else { b"" }
    }
}

impl Messages {
    fn shows(&self, block: &Block) -> bool {
        let hidden = self.thoughts == Thoughts::LeftOut && block.is_thought();
        !hidden && is_ours(block)
    }
}

/// What goes before a block.
fn join(open: Option<Role>, role: Role) -> &'static [u8] {
    match (open, role) {
        (Some(Role::User), Role::User) | (Some(Role::Assistant), Role::Assistant) => b",",
        (None, Role::User) => b"{\"role\":\"user\",\"content\":[",
        (None, Role::Assistant) => b"{\"role\":\"assistant\",\"content\":[",
        (Some(Role::Assistant), Role::User) => b"]},{\"role\":\"user\",\"content\":[",
        (Some(Role::User), Role::Assistant) => b"]},{\"role\":\"assistant\",\"content\":[",
    }
}

/// Thoughts of other providers' models carry no signature, and their other blocks mean nothing
/// here: the API would refuse the request.
fn is_ours(block: &Block) -> bool {
    match block.kind() {
        Kind::Other(name) if &**name == "thinking" => is_signed(block),
        Kind::Other(name) => !foreign::is_foreign(name),
        Kind::Text(_) | Kind::ToolUse(_) | Kind::ToolResult { .. } => true,
    }
}

fn is_signed(block: &Block) -> bool {
    #[derive(Deserialize)]
    struct Signed {
        #[serde(default)]
        signature: Option<String>,
    }
    let signature = block.raw().read::<Signed>().ok().and_then(|signed| signed.signature);
    signature.is_some_and(|signature| !signature.is_empty())
}

/// Whether the cache may be marked on it: thoughts must stay as they are, and a block that has a
/// marker of its own takes no second.
fn is_markable(block: &Block) -> bool {
    let known = match block.kind() {
        Kind::Text(_) | Kind::ToolUse(_) | Kind::ToolResult { .. } => true,
        Kind::Other(name) => matches!(&**name, "image" | "document"),
    };
    let text = block.raw().text();
    known && text.ends_with('}') && memmem::find(text.as_bytes(), b"\"cache_control\"").is_none()
}
