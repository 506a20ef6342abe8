//! A list that only grows: what stands on it can be borrowed as long as the list lives, while more is added.

use std::cell::OnceCell;

pub struct Shelf<T> {
    first: OnceCell<Box<Place<T>>>,
}

struct Place<T> {
    item: T,
    next: OnceCell<Box<Place<T>>>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { first: OnceCell::new() }
    }
}

impl<T> Shelf<T> {
    pub fn add(&self, item: T) -> &T {
        let mut end = &self.first;
        while let Some(place) = end.get() {
            end = &place.next;
        }
        &end.get_or_init(|| Box::new(Place { item, next: OnceCell::new() })).item
    }
}

impl<T> Drop for Shelf<T> {
    /// One by one: the length of the list must not become the depth of a recursion.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut place) = next {
            next = place.next.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_while_more_are_added() {
        let shelf = Shelf::default();
        let first = shelf.add(String::from("one"));
        for number in 0..2000 {
            shelf.add(number.to_string());
        }
        assert_eq!(first, "one");
    }
}
