use super::Block;
use core::mem::MaybeUninit;

/// Shared memory for all items of a block, in which neither order has bank conflicts.
///
/// Threads that write `ITEMS` neighbours each would hit few banks if `ITEMS` is even. So the items of each row of the 32
/// banks are permuted, by an exclusive or with the row's number: that takes no memory, as padding does.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct Exchange<T, const THREADS: usize, const ITEMS: usize>(
    [[MaybeUninit<T>; THREADS]; ITEMS],
);

impl<T: Copy, const THREADS: usize, const ITEMS: usize> Exchange<T, THREADS, ITEMS> {
    /// Items that all banks hold once.
    const ROW: usize = match size_of::<T>() {
        8 => 16,
        16 => 8,
        _ => 32,
    };
    /// The power of two in the items of a thread.
    const EVEN: usize = 1 << ITEMS.trailing_zeros();
    /// The number that permutes is the item's over this, of which as many bits as threads would share a bank.
    const PERIOD: usize = if Self::EVEN > Self::ROW { Self::EVEN } else { Self::ROW };
    const MASK: usize = match size_of::<T>() {
        1 | 2 | 4 | 8 | 16 if Self::EVEN < Self::ROW => Self::EVEN - 1,
        1 | 2 | 4 | 8 | 16 => Self::ROW - 1,
        _ => 0,
    };

    /// The place of an item.
    #[inline(always)]
    const fn place(item: usize) -> usize {
        item ^ ((item / Self::PERIOD) & Self::MASK)
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
            Exchange::put(shared, items, |nth| rank * ITEMS + nth);
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
            Exchange::get(shared, items, |nth| rank * ITEMS + nth);
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
            Exchange::get(shared, items, |nth| rank * ITEMS + nth);
        }
    }
}
