//! JSON of the run settings that prompts bring.
//!
//! The prompts of a process nearly always bring the same settings, which are two kilobytes of JSON:
//! they are written to the inbox, read from it, and written to the log, with every prompt. Each
//! thread remembers the settings it handled last, so that equal settings are neither encoded nor
//! parsed again, and conversations share them. The JSON is the same as without this.

use std::cell::RefCell;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::message::raw_json::RawJson;
use crate::settings::run_settings::RunSettings;

#[cfg(test)]
#[path = "run_settings_json_tests.rs"]
mod run_settings_json_tests;

thread_local! {
    static LATEST: RefCell<Option<(Arc<RunSettings>, RawJson)>> = const { RefCell::new(None) };
}

pub(crate) fn serialize<S: Serializer>(
    settings: &Option<Arc<RunSettings>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    settings.as_ref().map(encode_settings).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Arc<RunSettings>>, D::Error> {
    let json: Option<RawJson> = Deserialize::deserialize(deserializer)?;
    json.map(|json| parse_settings(&json)).transpose().map_err(serde::de::Error::custom)
}

fn encode_settings(settings: &Arc<RunSettings>) -> RawJson {
    let known = find_latest(|latest, _| Arc::ptr_eq(latest, settings) || latest == settings);
    known.map_or_else(
        || {
            let json = RawJson::encode(settings);
            remember(settings, &json);
            json
        },
        |(_, json)| json,
    )
}

fn parse_settings(json: &RawJson) -> Result<Arc<RunSettings>, serde_json::Error> {
    if let Some((settings, _)) = find_latest(|_, latest| latest == json) {
        return Ok(settings);
    }
    let settings = Arc::new(json.read()?);
    remember(&settings, json);
    Ok(settings)
}

fn find_latest(
    is_same: impl FnOnce(&Arc<RunSettings>, &RawJson) -> bool,
) -> Option<(Arc<RunSettings>, RawJson)> {
    LATEST.with_borrow(|latest| latest.clone().filter(|(settings, json)| is_same(settings, json)))
}

fn remember(settings: &Arc<RunSettings>, json: &RawJson) {
    LATEST.set(Some((Arc::clone(settings), json.clone())));
}
