//! The sampling temperature.

use serde::{Deserialize, Serialize};

/// A sampling temperature between 0 and 2, in thousandths: settings are compared and hashed, which
/// floating-point numbers are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Temperature(u16);

/// A temperature that no provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("temperature must be between 0 and 2, such as 0.7")]
pub struct InvalidTemperature;

impl Temperature {
    const MOST_THOUSANDTHS: u16 = 2_000;

    /// Converts a number to a temperature, rounded to thousandths.
    ///
    /// # Errors
    ///
    /// If the number is not between 0 and 2.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a small number that is not negative"
    )]
    pub fn new(temperature: f64) -> Result<Self, InvalidTemperature> {
        let fits = (0.0..=2.0).contains(&temperature);
        fits.then(|| Self((temperature * 1_000.0).round() as u16)).ok_or(InvalidTemperature)
    }

    /// Returns the number, as requests contain it.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000.0
    }
}

impl TryFrom<u16> for Temperature {
    type Error = InvalidTemperature;

    fn try_from(thousandths: u16) -> Result<Self, InvalidTemperature> {
        let fits = thousandths <= Self::MOST_THOUSANDTHS;
        fits.then_some(Self(thousandths)).ok_or(InvalidTemperature)
    }
}

impl From<Temperature> for u16 {
    fn from(temperature: Temperature) -> Self {
        temperature.0
    }
}
