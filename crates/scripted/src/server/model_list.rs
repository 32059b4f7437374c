//! The list of models: one model, whose name need not be used.

use serde::Serialize;

use super::routing::ModelListFormat;
use super::sse::to_json_line;

const MODEL_NAME: &str = "scripted";

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

/// The list of all models.
pub(super) fn model_list(catalogue: ModelListFormat) -> String {
    match catalogue {
        ModelListFormat::Anthropic => to_json_line(&AnthropicList {
            data: [anthropic_model(MODEL_NAME)],
            has_more: false,
            first_id: MODEL_NAME,
            last_id: MODEL_NAME,
        }),
        ModelListFormat::OpenAi => {
            to_json_line(&OpenAiList { object: "list", data: [openai_model(MODEL_NAME)] })
        }
    }
}

/// One model; every name is a model here.
pub(super) fn model_entry(catalogue: ModelListFormat, id: &str) -> String {
    match catalogue {
        ModelListFormat::Anthropic => to_json_line(&anthropic_model(id)),
        ModelListFormat::OpenAi => to_json_line(&openai_model(id)),
    }
}

fn anthropic_model(id: &str) -> AnthropicModel<'_> {
    AnthropicModel {
        r#type: "model",
        id,
        display_name: "Scripted model",
        created_at: "2026-01-01T00:00:00Z",
    }
}

fn openai_model(id: &str) -> OpenAiModel<'_> {
    OpenAiModel { id, object: "model", created: 1_767_225_600, owned_by: "windlass" }
}
