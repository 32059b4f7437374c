//! The list of models: one, whose name nobody has to use.

use serde::Serialize;

use super::route::Catalogue;
use super::sse::json;

const NAME: &str = "scripted";

#[derive(Serialize)]
struct AnthropicModel<'a> {
    r#type: &'a str,
    id: &'a str,
    display_name: &'a str,
    created_at: &'a str,
}

#[derive(Serialize)]
struct AnthropicList<'a> {
    data: [AnthropicModel<'a>; 1],
    has_more: bool,
    first_id: &'a str,
    last_id: &'a str,
}

#[derive(Serialize)]
struct OpenAiModel<'a> {
    id: &'a str,
    object: &'a str,
    created: u64,
    owned_by: &'a str,
}

#[derive(Serialize)]
struct OpenAiList<'a> {
    object: &'a str,
    data: [OpenAiModel<'a>; 1],
}

/// All models there are.
pub(super) fn list(catalogue: Catalogue) -> String {
    match catalogue {
        Catalogue::Anthropic => json(&AnthropicList {
            data: [anthropic(NAME)],
            has_more: false,
            first_id: NAME,
            last_id: NAME,
        }),
        Catalogue::OpenAi => json(&OpenAiList { object: "list", data: [openai(NAME)] }),
    }
}

/// One model; every name is a model here.
pub(super) fn one(catalogue: Catalogue, id: &str) -> String {
    match catalogue {
        Catalogue::Anthropic => json(&anthropic(id)),
        Catalogue::OpenAi => json(&openai(id)),
    }
}

fn anthropic(id: &str) -> AnthropicModel<'_> {
    AnthropicModel {
        r#type: "model",
        id,
        display_name: "Scripted model",
        created_at: "2026-01-01T00:00:00Z",
    }
}

fn openai(id: &str) -> OpenAiModel<'_> {
    OpenAiModel { id, object: "model", created: 1_767_225_600, owned_by: "windlass" }
}
