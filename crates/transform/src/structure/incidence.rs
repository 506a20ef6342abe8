//! A sparse pattern in compressed rows.

/// Which columns stand in each row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incidence {
    starts: Vec<u32>,
    entries: Vec<u32>,
    columns: usize,
}

/// Builds an [`Incidence`] row by row.
#[derive(Clone, Debug)]
pub struct IncidenceBuilder {
    starts: Vec<u32>,
    entries: Vec<u32>,
}

impl Default for IncidenceBuilder {
    fn default() -> Self {
        Self { starts: vec![0], entries: Vec::new() }
    }
}

impl IncidenceBuilder {
    /// Room for so many rows and entries.
    pub fn with_capacity(rows: usize, entries: usize) -> Self {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        Self { starts, entries: Vec::with_capacity(entries) }
    }

    /// Adds a row.
    pub fn push_row(&mut self, columns: impl IntoIterator<Item = u32>) {
        self.entries.extend(columns);
        self.starts.push(self.entries.len() as u32);
    }

    /// How many rows there are so far.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The finished incidence with so many columns.
    pub fn finish(self, columns: usize) -> Incidence {
        Incidence { starts: self.starts, entries: self.entries, columns }
    }
}

impl Incidence {
    /// The incidence with these columns in each row.
    pub fn from_rows(rows: &[Vec<u32>], columns: usize) -> Self {
        let mut builder = IncidenceBuilder::default();
        for row in rows {
            builder.push_row(row.iter().copied());
        }
        builder.finish(columns)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The columns of a row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.entries[self.range(row)]
    }

    /// The positions of a row's entries, for tables kept beside the entries.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The column of an entry.
    pub fn column_of(&self, entry: usize) -> u32 {
        self.entries[entry]
    }

    /// Columns become rows. Within each, the old rows ascend.
    pub fn transpose(&self) -> Incidence {
        let mut starts = vec![0u32; self.columns + 1];
        for &column in &self.entries {
            starts[column as usize + 1] += 1;
        }
        for index in 0..self.columns {
            starts[index + 1] += starts[index];
        }
        let mut fill = starts.clone();
        let mut entries = vec![0u32; self.entries.len()];
        for row in 0..self.rows() {
            for &column in self.row(row) {
                let place = &mut fill[column as usize];
                entries[*place as usize] = row as u32;
                *place += 1;
            }
        }
        Incidence { starts, entries, columns: self.rows() }
    }
}
