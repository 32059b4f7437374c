//! Tests of the core through its public API: scenarios, golden logs and properties, on one small
//! kit that drives decide, fold and wanted the way a driver does.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod kit;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod scenarios;
