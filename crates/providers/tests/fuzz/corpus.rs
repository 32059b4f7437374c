//! The recorded streams as the seed corpus.

use windlass_providers::catalog::provider_table::WireFormat;

use crate::random::SeededRandom;

pub(crate) struct FuzzCorpus {
    streams: Vec<(WireFormat, Vec<u8>)>,
}

impl FuzzCorpus {
    pub(crate) fn read() -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cassettes");
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        // The order of a folder is not guaranteed, and a seed must mean the same everywhere.
        paths.sort();
        let streams = paths.iter().map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let format = match name.as_str() {
                name if name.starts_with("anthropic") => WireFormat::AnthropicMessages,
                name if name.starts_with("openai_chat") => WireFormat::OpenAiChat,
                _ => WireFormat::OpenAiResponses,
            };
            (format, std::fs::read(path).unwrap())
        });
        Self { streams: streams.collect() }
    }

    /// A stream of a format.
    pub(crate) fn of(&self, format: WireFormat, dice: &mut SeededRandom) -> &[u8] {
        let own: Vec<_> = self.streams.iter().filter(|(other, _)| *other == format).collect();
        &dice.pick(&own).1
    }

    /// A stream of any format: one format's stream is noise to another.
    pub(crate) fn any(&self, dice: &mut SeededRandom) -> &[u8] {
        &dice.pick(&self.streams).1
    }
}
