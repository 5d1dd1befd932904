/// The face that a direction points to (+x, -x, +y, -y, +z, -z), and the place on it, each from 0 to 1. A part that is
/// no number is zero; an infinite one finds the middle of a face.
pub(super) fn face(direction: [f32; 3]) -> (u32, f64, f64) {
    if direction[2].is_infinite() {
        return (2, 0.5, 0.5);
    }
    if direction.iter().any(|part| part.is_infinite()) {
        return (4, 0.5, 0.5);
    }
    let [x, y, z] = direction.map(|part| if part.is_nan() { 0.0 } else { f64::from(part) });
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    let (face, s, t, major) = if az >= ax && az >= ay {
        if z >= 0.0 { (4, x, -y, az) } else { (5, -x, -y, az) }
    } else if ay >= ax {
        if y >= 0.0 { (2, x, z, ay) } else { (3, x, -z, ay) }
    } else if x >= 0.0 {
        (0, -z, -y, ax)
    } else {
        (1, z, -y, ax)
    };
    if major == 0.0 {
        return (face, 0.5, 0.5);
    }
    (face, (s / major + 1.0) / 2.0, (t / major + 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::face;

    #[test]
    fn the_largest_part_chooses_the_face() {
        assert_eq!(face([1.0, 0.0, 0.0]), (0, 0.5, 0.5));
        assert_eq!(face([-2.0, 1.0, 0.0]), (1, 0.5, 0.25));
        assert_eq!(face([0.0, 4.0, 2.0]), (2, 0.5, 0.75));
        assert_eq!(face([1.0, -2.0, 0.0]), (3, 0.75, 0.5));
        assert_eq!(face([1.0, 1.0, 1.0]).0, 4);
        assert_eq!(face([0.0, f32::NAN, -1.0]), (5, 0.5, 0.5));
        assert_eq!(face([f32::INFINITY, 0.0, 1.0]).0, 4);
        assert_eq!(face([0.0; 3]), (4, 0.5, 0.5));
    }
}
