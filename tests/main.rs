//! The integration tests of Coalesce.
