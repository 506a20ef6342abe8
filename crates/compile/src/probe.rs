//! Expressions that are evaluated beside the program: by interpretation, at the values in memory.

use base::Diagnostic;
use dae::ExprId;

use crate::code::{self, Address, Code, Regions, StatementOrigin};
use crate::interpret;
use crate::lower::{Mode, Pool, Statement, link, lower};
use crate::memory::Memory;
use crate::program::Program;
use crate::runtime::Runtime;

/// Code for some expressions of a program's model. Relations in it are frozen.
#[derive(Clone)]
pub struct Probe {
    code: Code,
    pool: Pool,
    first_constant: usize,
    /// The length of the memory it was made for.
    end: usize,
    count: usize,
    /// Functions are interpreted as they are written, with everything they do on the way.
    as_written: bool,
}

impl Probe {
    /// Code for some expressions of the model.
    pub fn new(program: &Program, expressions: &[ExprId], memory: &mut Memory) -> Result<Self, Diagnostic> {
        let statements: Vec<Statement> = (0..)
            .zip(expressions)
            .map(|(k, &value)| Statement::to_slot(code::OUTPUT | k, value, StatementOrigin::default()))
            .collect();
        Self::of_statements(program, &statements, expressions.len(), Mode::default(), memory)
    }

    /// Statements that may write to memory too; `count` of them are results.
    pub(crate) fn of_statements(
        program: &Program,
        statements: &[Statement],
        count: usize,
        mode: Mode,
        memory: &mut Memory,
    ) -> Result<Self, Diagnostic> {
        let mut pool = program.pool.clone();
        std::mem::swap(&mut pool.strings, &mut memory.strings);
        let first_constant = pool.constants.values.len();
        let lowered = lower(program.model(), &program.layout, &mut pool, mode, statements);
        std::mem::swap(&mut pool.strings, &mut memory.strings);
        let mut code = lowered?;
        link(&mut code);
        let end = memory.values.len();
        let outputs = end + pool.constants.values.len() - first_constant;
        let temporaries = outputs + count;
        let regions =
            Regions { constants: program.regions.constants, outputs: outputs as u32, temporaries: temporaries as u32 };
        // New constants lie behind the end of memory; those known before stay where they are.
        let resolve = |address: Address| {
            let index = (address & !code::REGION_MASK) as usize;
            if address & code::REGION_MASK == code::CONSTANT && index >= first_constant {
                (end + index - first_constant) as u32
            } else {
                regions.resolve(address)
            }
        };
        for op in &mut code.ops {
            *op = op.map(resolve);
        }
        Ok(Self { code, pool, first_constant, end, count, as_written: false })
    }

    /// For functions that are called for their effect.
    pub fn as_written(self) -> Self {
        Self { as_written: true, ..self }
    }

    /// The values of the expressions, as many as there are places in `out`.
    pub fn run(&self, program: &Program, memory: &mut Memory, out: &mut Vec<f64>) {
        let fresh = self.pool.constants.values.get(self.first_constant..).unwrap_or_default();
        let outputs = self.end + fresh.len();
        let temporaries = outputs + self.count;
        memory.values.truncate(self.end);
        memory.values.extend_from_slice(fresh);
        memory.values.resize(temporaries + self.code.temporaries as usize, 0.0);
        let (values, mut runtime) = Runtime::new(program, &self.pool.calls, memory);
        runtime.diagnose = self.as_written;
        interpret::run(&self.code.ops, values, &mut runtime);
        out.clear();
        out.extend_from_slice(&values[outputs..temporaries]);
        memory.values.truncate(self.end);
    }
}

impl Program {
    /// Evaluates expressions of the model at the values in memory, by interpretation.
    pub fn evaluate(&self, expressions: &[ExprId], memory: &mut Memory) -> Result<Vec<f64>, Diagnostic> {
        let mut results = Vec::new();
        Probe::new(self, expressions, memory)?.run(self, memory, &mut results);
        Ok(results)
    }

    /// Calls a function for its effect, once. What it asserts has to hold.
    pub fn perform(&self, call: ExprId, memory: &mut Memory) -> Result<(), Diagnostic> {
        memory.call_failure = None;
        Probe::new(self, &[call], memory)?.as_written().run(self, memory, &mut Vec::new());
        match memory.call_failure.take() {
            Some(message) => Err(Diagnostic::error("evaluation-failed", message)),
            None => Ok(()),
        }
    }

    /// The text of a String expression, such as the message of an assertion.
    pub fn text(&self, expression: ExprId, memory: &mut Memory) -> Result<String, Diagnostic> {
        let values = self.evaluate(&[expression], memory)?;
        let text = values.first().and_then(|&value| memory.strings.get(value));
        Ok(text.map(|text| text.to_string()).unwrap_or_default())
    }
}
