//! Sets of flags, as integers that combine by `|`.

macro_rules! flags {
    ($(#[doc = $about:literal] $name:ident { $($(#[doc = $doc:literal])* $flag:ident = $value:literal)* })*) => {$(
        #[doc = $about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(u32);

        impl $name {
            $($(#[doc = $doc])* pub const $flag: $name = $name($value);)*

            /// No flag.
            pub const fn empty() -> $name {
                $name(0)
            }

            /// The integer that the driver takes.
            pub const fn bits(&self) -> u32 {
                self.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = $name;

            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }
    )*};
}

flags! {
    /// Flags of the driver's start: no flag is defined yet.
    CudaFlags {}
    /// Flags of a stream.
    StreamFlags {
        /// Work on the legacy default stream and on this one wait for each other.
        DEFAULT = 0
        /// The stream ignores the legacy default stream.
        NON_BLOCKING = 1
    }
    /// Flags of an event: its record, and the host's wait for it.
    EventFlags {
        /// An event with a time.
        DEFAULT = 0
        /// The host sleeps while it waits.
        BLOCKING_SYNC = 1
        /// No time is recorded, which is cheaper.
        DISABLE_TIMING = 2
        /// Other processes may wait for it.
        INTERPROCESS = 4
    }
}
