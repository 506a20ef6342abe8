//! A limit on symbolic work. The determinant of a resistor mesh has as many terms as the mesh has spanning trees; nobody reads
//! such a result, and it must not take the memory of the machine. Operations on polynomials count their term products;
//! when the budget is spent they return at once, and what they return is thrown away as a whole.

use std::cell::Cell;

thread_local! {
    /// None without a limit.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// The result, or none where the budget was spent on the way.
pub fn within<T>(budget: u64, work: impl FnOnce() -> T) -> Option<T> {
    let before = LEFT.replace(Some(budget));
    let result = work();
    let left = LEFT.replace(before);
    (left != Some(0)).then_some(result)
}

/// False where the budget is spent.
pub(crate) fn spend(products: usize) -> bool {
    let Some(left) = LEFT.get() else { return true };
    let left = left.saturating_sub(products as u64 + 1);
    LEFT.set(Some(left));
    left > 0
}
