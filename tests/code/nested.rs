// A program for symbolize_test: modules, generics and a method that is inlined.
mod geometry {
    pub struct Point<T> {
        pub x: T,
        pub y: T,
    }

    impl<T: Copy + Into<f64>> Point<T> {
        #[inline(always)]
        pub fn norm(&self) -> f64 {
            let (x, y): (f64, f64) = (self.x.into(), self.y.into());
            (x * x + y * y).sqrt()
        }
    }

    #[inline(never)]
    pub fn longest<T: Copy + Into<f64>>(points: &[Point<T>]) -> f64 {
        points.iter().map(|p| p.norm()).fold(0.0, f64::max)
    }
}

fn main() {
    let n = std::env::args().count() as i32;
    let points = [geometry::Point { x: n, y: 2 }, geometry::Point { x: 3, y: n }];
    println!("{}", geometry::longest(&points));
}
