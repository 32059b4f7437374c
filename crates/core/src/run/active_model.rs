//! The model that a run calls: that of its settings, or a fallback.

use crate::settings::conversation_settings::{ModelSpec, Settings};

/// The model that is called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ActiveModel {
    /// The model of the settings.
    #[default]
    Primary,
    /// A fallback model.
    Fallback {
        /// Its position among the fallback models of the settings.
        position: u16,
    },
}

impl ActiveModel {
    /// Returns the fallback that is called when this model stays down.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Primary => Self::Fallback { position: 0 },
            Self::Fallback { position } => Self::Fallback { position: position.saturating_add(1) },
        }
    }

    /// Returns the model that was called before this one; the model itself if it is the first.
    #[must_use]
    pub fn previous(self) -> Self {
        match self {
            Self::Primary | Self::Fallback { position: 0 } => Self::Primary,
            Self::Fallback { position } => Self::Fallback { position: position.saturating_sub(1) },
        }
    }

    /// Returns the model in these settings; `None` for a fallback that they do not have.
    #[must_use]
    pub fn find(self, settings: &Settings) -> Option<&ModelSpec> {
        match self {
            Self::Primary => Some(&settings.model),
            Self::Fallback { position } => settings.fallbacks().nth(position.into()),
        }
    }
}
