//! Depth and distance, as the paper defines them.
//!
//! The points of a path are its branches on input whose other side some input takes. The depth of a place is the number
//! of points before it; the distance from a point to an operation is the number of points between them, the first one
//! counted: the difference of their depths.

use std::collections::BTreeSet;

/// The points of a path, and how deep its sensitive operations lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landscape {
    /// Positions of the points among the decisions, ascending; the index is the depth.
    points: Vec<usize>,
    /// Depths at which there are sensitive operations.
    depths: BTreeSet<usize>,
}

impl Landscape {
    /// From the positions of the points, ascending, and how many decisions come before each operation.
    pub fn new(points: Vec<usize>, operations: impl IntoIterator<Item = usize>) -> Landscape {
        let mut landscape = Landscape {
            points,
            depths: BTreeSet::new(),
        };
        let depths = operations.into_iter().map(|before| landscape.depth(before));
        landscape.depths = depths.collect();
        landscape
    }

    /// Points before what comes after so many decisions.
    pub fn depth(&self, decisions: usize) -> usize {
        self.points.partition_point(|point| *point < decisions)
    }

    /// The points at this distance from a sensitive operation, those of the deepest operations first.
    pub fn at_distance(&self, distance: usize) -> Vec<usize> {
        let points = 0..self.points.len();
        let is_near = |point: &usize| self.depths.contains(&(point + distance));
        points.rev().filter(is_near).collect()
    }

    /// The points that have a sensitive operation at any distance, the deepest ones first.
    pub fn before_operations(&self) -> Vec<usize> {
        let deepest = self.depths.last().copied().unwrap_or(0);
        (0..self.points.len().min(deepest)).rev().collect()
    }

    /// Whether a larger distance still has points.
    pub fn reaches(&self, distance: usize) -> bool {
        self.depths
            .last()
            .is_some_and(|deepest| *deepest >= distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's figure 4: two points, then a write.
    fn two_points_and_a_write() -> Landscape {
        Landscape::new(vec![0, 1], [2])
    }

    #[test]
    fn depths_are_those_of_the_paper() {
        let landscape = two_points_and_a_write();
        let depths: Vec<usize> = [0, 1, 2].map(|before| landscape.depth(before)).into();
        assert_eq!(depths, [0, 1, 2]);
    }

    #[test]
    fn the_nearer_point_comes_at_the_smaller_distance() {
        let landscape = two_points_and_a_write();
        assert_eq!(landscape.at_distance(1), [1]);
        assert_eq!(landscape.at_distance(2), [0]);
        assert!(landscape.at_distance(3).is_empty());
        assert!(landscape.reaches(2) && !landscape.reaches(3));
    }

    #[test]
    fn branches_that_no_input_takes_otherwise_do_not_count() {
        // Decisions 0 to 3, of which only 1 has another side.
        let landscape = Landscape::new(vec![1], [4]);
        assert_eq!(landscape.depth(4), 1);
        assert_eq!(landscape.at_distance(1), [0]);
    }

    #[test]
    fn points_before_deeper_operations_come_first() {
        let landscape = Landscape::new(vec![0, 1, 2, 3], [1, 3]);
        assert_eq!(landscape.at_distance(1), [2, 0]);
        assert_eq!(landscape.at_distance(2), [1]);
    }

    #[test]
    fn points_behind_the_last_operation_are_before_none() {
        let landscape = Landscape::new(vec![0, 1, 2, 3], [1, 3]);
        assert_eq!(landscape.before_operations(), [2, 1, 0]);
        assert_eq!(landscape.depth(4), 4);
    }

    #[test]
    fn a_path_without_sensitive_operations_is_not_left() {
        let landscape = Landscape::new(vec![0, 1, 2], []);
        assert!(!landscape.reaches(1));
        assert!(landscape.at_distance(1).is_empty());
    }
}
