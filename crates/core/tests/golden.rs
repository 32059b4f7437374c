pub(crate) fn stories() -> Vec<(&'static str, crate::kit::Lane)> { Vec::new() }
