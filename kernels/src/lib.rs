//! The device code of Coalesce: one file per memory pattern, a ladder of variants from naive to fastest.
