//! One access of a warp: its lanes and the addresses that they form.

use crate::execute::issue::warp::Warp;
use crate::execute::memory::pattern::{Layout, Shape, is_ascending};
use crate::observer::WarpAccess;
use crate::operation::{Base, Space};
use crate::registers::LANES;
use crate::windows::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW_BYTES};

/// One access of a warp: the instruction, the lanes that take part, their addresses, and the bytes
/// that each of them reaches.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub pc: usize,
    pub mask: u32,
    pub all: &'a [u64; LANES],
    pub bytes: u32,
    /// The arrangement of the lanes, where the instruction's pattern was observed.
    pub layout: Option<Layout>,
}

impl<'a> From<Request<'a>> for WarpAccess<'a> {
    #[inline(always)]
    fn from(Request { mask, all, bytes, .. }: Request<'a>) -> WarpAccess<'a> {
        WarpAccess { mask, addresses: all, bytes }
    }
}

impl<'a> Request<'a> {
    /// An access whose pattern was not observed.
    #[inline(always)]
    pub fn new(pc: usize, mask: u32, all: &'a [u64; LANES], bytes: u32) -> Request<'a> {
        Request { pc, mask, all, bytes, layout: None }
    }

    /// The address of the first active lane.
    #[inline(always)]
    pub fn first(&self) -> u64 {
        self.all[self.mask.trailing_zeros() as usize & 31]
    }

    /// The lowest address, and the bytes from there to the end of the highest, where that is known.
    #[inline(always)]
    pub fn span(&self) -> Option<(u64, u64)> {
        let layout = self.layout?;
        let bytes = layout.high.checked_sub(layout.low)? as u64 + u64::from(self.bytes);
        Some((self.first().wrapping_add_signed(layout.low), bytes))
    }

    /// The part of it that some of its lanes do.
    #[inline(always)]
    pub fn part(self, mask: u32) -> Request<'a> {
        if mask == self.mask { self } else { Request { mask, layout: None, ..self } }
    }

    /// Returns whether every active lane's address is above that of the active lane before.
    #[inline(always)]
    pub fn is_ascending(&self) -> bool {
        match self.layout {
            Some(layout) => matches!(layout.shape, Shape::Contiguous | Shape::Ascending),
            None => is_ascending(self.mask, self.all),
        }
    }

    /// The bytes from the first lane's to the last lane's, when all lanes take part and each
    /// begins where the one before ends.
    #[inline(always)]
    pub fn row_bytes(&self) -> Option<u64> {
        if let Some(layout) = self.layout {
            return (layout.shape == Shape::Contiguous).then_some(LANES as u64 * self.bytes as u64);
        }
        let mut differs = 0;
        for (lane, address) in self.all.iter().enumerate() {
            let expected = self.all[0].wrapping_add(lane as u64 * self.bytes as u64);
            differs |= address ^ expected;
        }
        (differs == 0 && self.mask == u32::MAX).then_some(LANES as u64 * self.bytes as u64)
    }
}

/// The addresses that the lanes of a warp form.
#[inline(always)]
pub(crate) fn addresses(warp: &Warp, base: Base, offset: i64) -> [u64; LANES] {
    match base {
        Base::Long(index) => {
            let row = &warp.registers.longs[index as usize];
            std::array::from_fn(|lane| row[lane].wrapping_add(offset as u64))
        }
        Base::Word(index) => {
            let row = &warp.registers.words[index as usize];
            std::array::from_fn(|lane| row[lane].wrapping_add(offset as u32) as u64)
        }
        Base::Absolute => [offset as u64; LANES],
    }
}

/// The space that a generic address lies in.
#[inline(always)]
pub(crate) fn space_of(address: u64) -> Space {
    let past = address.wrapping_sub(SHARED_WINDOW);
    if past >= 1 << 34 {
        Space::Global
    } else if past < WINDOW_BYTES {
        Space::Shared
    } else if address.wrapping_sub(LOCAL_WINDOW) < WINDOW_BYTES {
        Space::Local
    } else if address.wrapping_sub(PARAMETER_WINDOW) < WINDOW_BYTES {
        Space::Parameter
    } else {
        Space::Global
    }
}

/// Splits the lanes of a generic access by the space that their addresses lie in.
pub(crate) fn by_space(mask: u32, addresses: &mut [u64; LANES]) -> [(Space, u32); 4] {
    let mut masks =
        [(Space::Global, 0), (Space::Shared, 0), (Space::Local, 0), (Space::Parameter, 0)];
    for (lane, address) in addresses.iter_mut().enumerate() {
        if mask >> lane & 1 == 0 {
            continue;
        }
        let (index, window) = match space_of(*address) {
            Space::Shared => (1, SHARED_WINDOW),
            Space::Local => (2, LOCAL_WINDOW),
            Space::Parameter => (3, PARAMETER_WINDOW),
            _ => (0, 0),
        };
        masks[index].1 |= 1 << lane;
        *address = address.wrapping_sub(window);
    }
    masks
}

/// An address in shared memory, also when it comes as a generic address.
pub(crate) fn shared_offset(address: u64) -> u64 {
    if space_of(address) == Space::Shared { address - SHARED_WINDOW } else { address }
}
