//! Registry, verification and measurement of Coalesce's memory patterns.
