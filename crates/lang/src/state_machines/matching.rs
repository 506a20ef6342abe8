//! Which unknown each equation of a state determines: augmenting paths, breadth first.

/// `rows` lists the unknowns of each equation, `first` what is assigned already. Returns the unknown of each row.
pub(super) fn assign(rows: &[Vec<usize>], first: Vec<Option<usize>>, unknowns: usize) -> Vec<Option<usize>> {
    let mut of_row = first;
    let mut of_unknown: Vec<Option<usize>> = vec![None; unknowns];
    for (row, unknown) in of_row.iter().enumerate() {
        if let Some(unknown) = *unknown {
            of_unknown[unknown] = Some(row);
        }
    }
    for start in 0..rows.len() {
        if of_row[start].is_some() {
            continue;
        }
        // The row from which an unknown was reached.
        let mut reached: Vec<Option<usize>> = vec![None; unknowns];
        let mut queue = vec![start];
        let mut at = 0;
        let mut free = None;
        while let (Some(&row), None) = (queue.get(at), free) {
            at += 1;
            for &unknown in &rows[row] {
                if reached[unknown].is_some() {
                    continue;
                }
                reached[unknown] = Some(row);
                match of_unknown[unknown] {
                    Some(other) => queue.push(other),
                    None => {
                        free = Some(unknown);
                        break;
                    }
                }
            }
        }
        while let Some(unknown) = free {
            let Some(row) = reached[unknown] else { break };
            of_unknown[unknown] = Some(row);
            free = of_row[row].replace(unknown).filter(|_| row != start);
        }
    }
    of_row
}

#[cfg(test)]
mod tests {
    use super::assign;

    #[test]
    fn an_assignment_is_changed_where_another_row_needs_it() {
        let rows = vec![vec![0, 1], vec![0], vec![1, 2]];
        assert_eq!(assign(&rows, vec![Some(0), None, Some(1)], 3), vec![Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn a_row_too_many_stays_without() {
        assert_eq!(assign(&[vec![0], vec![0]], vec![None, None], 1), vec![Some(0), None]);
    }
}
