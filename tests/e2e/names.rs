// A program whose functions have names that are hard to carry, each with CPU time of its own.
use std::{mem, ptr};

/// The same value, of which the compiler knows nothing (std::hint has that since 1.66 only).
fn black_box<T>(value: T) -> T {
    let copy = unsafe { ptr::read_volatile(&value) };
    mem::forget(value);
    copy
}

extern "C" {
    fn clock() -> i64; // of the C library: CPU time in microseconds
}

#[inline(always)]
fn spin() -> u64 {
    let end = unsafe { clock() } + 150_000;
    let mut value = 1;
    while unsafe { clock() } < end {
        for i in 0..100_000u64 {
            value = black_box(value ^ i);
        }
    }
    value
}

trait Work {
    fn work(&self) -> u64;
}

impl Work for [u8; 16] {
    #[inline(never)]
    fn work(&self) -> u64 {
        spin()
    }
}

struct Heap<T>(T);

impl<T> Drop for Heap<T> {
    #[inline(never)]
    fn drop(&mut self) {
        black_box(spin());
    }
}

impl<T: Iterator<Item = u64>> Work for Heap<Option<T>> {
    #[inline(never)]
    fn work(&self) -> u64 {
        spin() + 5 // not the same code as above: the compiler would make it one function
    }
}

fn main() {
    let heap = Heap(Some(0..3u64));
    let closure: &dyn Fn(u64) -> u64 = &|n| spin() + n;
    black_box([0u8; 16].work() + heap.work() + black_box(closure)(3));
}
