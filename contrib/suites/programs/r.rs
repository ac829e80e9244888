use std::collections::HashMap;
use std::{panic, process, sync, thread, time};

fn f(n: u64, k: u64) -> u64 {
    (0..n).fold(0, |s, i| (s * 31 + i + k) % 1000003)
}

fn main() {
    let threads: Vec<_> = (0..4).map(|k| thread::spawn(move || f(2000000, k))).collect();
    for t in threads {
        println!("{}", t.join().unwrap());
    }
    let (send, receive) = sync::mpsc::channel();
    thread::spawn(move || (0..100000u64).for_each(|i| send.send(i).unwrap()));
    println!("{}", receive.iter().sum::<u64>());
    let mut counts: HashMap<u64, u64> = HashMap::new();
    (0..300000).for_each(|i| *counts.entry(i * 7 % 1003).or_default() += 1);
    println!("{}", counts.len());
    println!("{}", panic::catch_unwind(|| panic!("a panic")).is_err());
    thread::sleep(time::Duration::from_millis(100));
    println!("{:?}", process::Command::new("sh").args(["-c", "exit 3"]).status().unwrap().code());
    process::exit(5)
}
