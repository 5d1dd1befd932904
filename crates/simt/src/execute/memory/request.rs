use crate::execute::issue::warp::Warp;
use crate::observer::WarpAccess;
use crate::operation::{Base, Space};
use crate::registers::LANES;
use crate::windows::{LOCAL_WINDOW, PARAMETER_WINDOW, SHARED_WINDOW, WINDOW_BYTES};
use races::Request;

impl<'a> From<Request<'a>> for WarpAccess<'a> {
    #[inline(always)]
    fn from(Request { mask, all, bytes, .. }: Request<'a>) -> WarpAccess<'a> {
        WarpAccess { mask, addresses: all, bytes }
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
