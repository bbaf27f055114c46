//! The data of paths of many rectangles, which are made anew for each frame while somebody moves along the
//! time: short, since browsers read them, and written without strings in between.

/// Adds a number in tenths, without an empty decimal.
fn push_tenths(path: &mut String, tenths: i64) {
    if tenths < 0 {
        path.push('-');
    }
    let (mut whole, tenth) = (tenths.unsigned_abs() / 10, (tenths.unsigned_abs() % 10) as u8);
    let mut digits = [b'0'; 20];
    let mut first = digits.len() - 1;
    while whole >= 10 {
        digits[first] = b'0' + (whole % 10) as u8;
        (whole, first) = (whole / 10, first - 1);
    }
    digits[first] = b'0' + whole as u8;
    path.extend(digits[first..].iter().map(|digit| char::from(*digit)));
    if tenth > 0 {
        path.push('.');
        path.push(char::from(b'0' + tenth));
    }
}

/// Adds a rectangle; lengths are exact to a tenth of a pixel.
pub fn push_rectangle(path: &mut String, [left, right]: [f64; 2], [top, bottom]: [f64; 2]) {
    let [left, right, top, bottom] =
        [left, right, top, bottom].map(|at| (at * 10.0).round() as i64);
    for (command, number) in
        [('M', left), (' ', top), ('h', right - left), ('v', bottom - top), ('h', left - right)]
    {
        path.push(command);
        push_tenths(path, number);
    }
    path.push('z');
}

/// Stacks of columns, one path for each part. Edges lie on whole pixels, so that neighbours can be
/// equal, which are one rectangle.
pub struct Stacks<const PARTS: usize> {
    floor: f64,
    paths: [String; PARTS],
    /// Where a part's rectangle began, and its lower and upper edge above the floor.
    open: [Option<(usize, [u16; 2])>; PARTS],
    end: usize,
}

impl<const PARTS: usize> Stacks<PARTS> {
    /// Columns that stand on `floor`.
    pub fn on(floor: f64) -> Self {
        Self { floor, paths: std::array::from_fn(|_| String::new()), open: [None; PARTS], end: 0 }
    }

    /// Adds the next column: the height of each part in pixels. What is there is at least `least` high
    /// as long as all are below `most`.
    pub fn push(&mut self, heights: impl Iterator<Item = f32>, least: u16, most: u16) {
        let (mut low, mut sum) = (0u16, 0.0f32);
        for (part, height) in heights.enumerate().take(PARTS) {
            sum += height;
            // Of the sum, so that what fills all of it together does.
            let edge = (sum.clamp(0.0, f32::from(most)) + 0.5) as u16;
            let high = if height > 0.0 { edge.max(low + least).min(most) } else { low };
            let now = (high > low).then_some([low, high]);
            if self.open[part].map(|(_, place)| place) != now {
                self.close(part);
                self.open[part] = now.map(|place| (self.end, place));
            }
            low = high;
        }
        self.end += 1;
    }

    fn close(&mut self, part: usize) {
        if let Some((from, [low, high])) = self.open[part].take() {
            let ends = [from, self.end].map(|x| x as f64);
            let place = [high, low].map(|height| self.floor - f64::from(height));
            push_rectangle(&mut self.paths[part], ends, place);
        }
    }

    /// The paths' data.
    pub fn finish(mut self) -> [String; PARTS] {
        for part in 0..PARTS {
            self.close(part);
        }
        self.paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(ends: [f64; 2], place: [f64; 2]) -> String {
        let mut path = String::new();
        push_rectangle(&mut path, ends, place);
        path
    }

    #[test]
    fn rectangles_are_short_and_exact_to_a_tenth() {
        assert_eq!(rectangle([10.0, 11.0], [4.0, 24.0]), "M10 4h1v20h-1z");
        assert_eq!(rectangle([-0.26, 1234.56], [0.04, 9.9]), "M-0.3 0h1234.9v9.9h-1234.9z");
    }

    #[test]
    fn equal_neighbours_are_one_and_what_is_there_is_seen() {
        let mut stacks = Stacks::<2>::on(24.0);
        for heights in [[12.0, 12.0], [12.1, 11.9], [0.1, 0.0], [0.0, 0.0], [0.0, 24.0]] {
            stacks.push(heights.into_iter(), 2, 24);
        }
        let [first, second] = stacks.finish();
        assert_eq!(first, "M0 12h2v12h-2zM2 22h1v2h-1z");
        assert_eq!(second, "M0 0h2v12h-2zM4 0h1v24h-1z");
    }

    #[test]
    fn parts_whose_heights_are_rounded_fill_what_they_fill_together() {
        let mut stacks = Stacks::<3>::on(24.0);
        stacks.push([8.4, 7.2, 8.4].into_iter(), 2, 24);
        let [_, _, last] = stacks.finish();
        assert!(last.starts_with("M0 0h1"), "{last}");
    }
}
