use super::Block;
use crate::vector::U32x4;
use core::mem::{MaybeUninit, transmute_copy};

/// The place of an item where threads have `items` neighbours each: the same place, permuted within the 32 banks.
///
/// Threads a bank apart by their items being even would share banks. An exclusive or with the number of the row of banks
/// keeps them apart, by as many bits as the items are even times.
#[inline(always)]
pub(super) const fn place<T>(item: usize, items: usize) -> usize {
    let row = match size_of::<T>() {
        1 | 2 | 4 => 32,
        8 => 16,
        16 => 8,
        _ => return item,
    };
    let even = 1 << items.trailing_zeros();
    let (period, mask) = if even < row { (row, even - 1) } else { (even, row - 1) };
    item ^ ((item / period) & mask)
}

/// Shared memory for all items of a block, in which neither order has bank conflicts.
///
/// Items are permuted within the banks, which takes no memory, as padding does.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Exchange<T, const THREADS: usize, const ITEMS: usize>(
    [[MaybeUninit<T>; THREADS]; ITEMS],
);

impl<T: Copy, const THREADS: usize, const ITEMS: usize> Exchange<T, THREADS, ITEMS> {
    /// The items of a thread are 16 bytes, which one instruction accesses.
    const IS_VECTOR: bool = size_of::<[T; ITEMS]>() == size_of::<U32x4>();

    #[inline(always)]
    const fn place(item: usize) -> usize {
        if Self::IS_VECTOR { item } else { place::<T>(item, ITEMS) }
    }

    /// [`Self::put`] in blocked order.
    ///
    /// # Safety
    /// - As there; index width: `thread` is below `THREADS`.
    #[inline(always)]
    pub(crate) unsafe fn put_blocked(this: *mut Self, items: &[T; ITEMS], thread: usize) {
        // SAFETY: the caller's contract; any bytes are a value of a vector.
        unsafe {
            if Self::IS_VECTOR {
                let vector = transmute_copy::<[T; ITEMS], U32x4>(items);
                this.cast::<U32x4>().add(thread).write(vector);
            } else {
                Self::put(this, items, |nth| thread * ITEMS + nth);
            }
        }
    }

    /// [`Self::get`] in blocked order.
    ///
    /// # Safety
    /// - As there; index width: `thread` is below `THREADS`.
    #[inline(always)]
    pub(crate) unsafe fn get_blocked(this: *mut Self, items: &mut [T; ITEMS], thread: usize) {
        // SAFETY: the caller's contract; the bytes are those of items.
        unsafe {
            if Self::IS_VECTOR {
                let vector = this.cast::<U32x4>().add(thread).read();
                *items = transmute_copy::<U32x4, [T; ITEMS]>(&vector);
            } else {
                Self::get(this, items, |nth| thread * ITEMS + nth);
            }
        }
    }

    /// Writes each of the thread's items at the place of `item_of` its number.
    ///
    /// # Safety
    /// - Aliasing: until the next barrier nobody else accesses these places of `this`, which is in shared memory.
    /// - Index width: `item_of` is below `THREADS * ITEMS`.
    #[inline(always)]
    pub(crate) unsafe fn put(
        this: *mut Self,
        items: &[T; ITEMS],
        item_of: impl Fn(usize) -> usize,
    ) {
        for (nth, item) in items.iter().enumerate() {
            // SAFETY: the caller's contract.
            unsafe { this.cast::<T>().add(Self::place(item_of(nth))).write(*item) };
        }
    }

    /// Reads what was put, into each of the thread's items.
    ///
    /// # Safety
    /// - All items were put before a barrier.
    /// - Index width: `item_of` is below `THREADS * ITEMS`.
    #[inline(always)]
    pub(crate) unsafe fn get(
        this: *mut Self,
        items: &mut [T; ITEMS],
        item_of: impl Fn(usize) -> usize,
    ) {
        for (nth, item) in items.iter_mut().enumerate() {
            // SAFETY: the caller's contract.
            *item = unsafe { this.cast::<T>().add(Self::place(item_of(nth))).read() };
        }
    }
}

impl<const THREADS: usize> Block<THREADS> {
    /// Exchanges the items of all threads from blocked to striped order, such as before a coalesced store.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn blocked_to_striped<T: Copy, const ITEMS: usize>(
        self,
        shared: *mut Exchange<T, THREADS, ITEMS>,
        items: &mut [T; ITEMS],
    ) {
        let rank = self.rank();
        // SAFETY: the caller's contract; each item has one thread.
        unsafe {
            Exchange::put_blocked(shared, items, rank);
            self.sync();
            Exchange::get(shared, items, |nth| nth * THREADS + rank);
        }
    }

    /// Exchanges the items of all threads from striped to blocked order, such as after a coalesced load.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    #[inline(always)]
    pub unsafe fn striped_to_blocked<T: Copy, const ITEMS: usize>(
        self,
        shared: *mut Exchange<T, THREADS, ITEMS>,
        items: &mut [T; ITEMS],
    ) {
        let rank = self.rank();
        // SAFETY: the caller's contract; each item has one thread.
        unsafe {
            Exchange::put(shared, items, |nth| nth * THREADS + rank);
            self.sync();
            Exchange::get_blocked(shared, items, rank);
        }
    }

    /// Moves each item to the place of its rank, in blocked order. Ranks decide about bank conflicts.
    ///
    /// # Safety
    /// - As for [`Self::reduce`].
    /// - Index width: the ranks of all items of the block are the numbers below `THREADS * ITEMS`, each once.
    #[inline(always)]
    pub unsafe fn scatter<T: Copy, const ITEMS: usize>(
        self,
        shared: *mut Exchange<T, THREADS, ITEMS>,
        items: &mut [T; ITEMS],
        ranks: &[u32; ITEMS],
    ) {
        let rank = self.rank();
        // SAFETY: the caller's contract; each item has one thread.
        unsafe {
            Exchange::put(shared, items, |nth| ranks[nth] as usize);
            self.sync();
            Exchange::get_blocked(shared, items, rank);
        }
    }
}
