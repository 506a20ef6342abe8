//! The same problems with CVODE and IDA: the right-hand sides and Jacobians are those of the crate's own runs, called
//! back through the user data; tridiagonal matrices are given as banded ones, small ones as dense.
#![allow(unsafe_code)]

use crate::cases::{Case, Hybrid, RobertsonDae};
use crate::measure::{Run, cpu_time};
use solve::{DaeProblem, OdeProblem, Options};
use std::ffi::{c_int, c_long, c_void};
use std::ptr::null_mut;
use std::slice::{from_raw_parts, from_raw_parts_mut};
use sundials_sys::*;

/// What the callbacks reach through the user data.
struct User<'a, P: ?Sized> {
    problem: &'a mut P,
    size: usize,
    /// Where each value of the pattern goes in the banded matrix; empty for dense ones.
    places: Vec<usize>,
    values: Vec<f64>,
}

unsafe fn view<'a>(vector: N_Vector, size: usize) -> &'a [f64] {
    unsafe { from_raw_parts(N_VGetArrayPointer(vector), size) }
}

unsafe fn view_mut<'a>(vector: N_Vector, size: usize) -> &'a mut [f64] {
    unsafe { from_raw_parts_mut(N_VGetArrayPointer(vector), size) }
}

unsafe extern "C" fn rhs<P: OdeProblem + ?Sized>(t: f64, y: N_Vector, dy: N_Vector, user: *mut c_void) -> c_int {
    let user = unsafe { &mut *user.cast::<User<'_, P>>() };
    let (y, dy) = unsafe { (view(y, user.size), view_mut(dy, user.size)) };
    c_int::from(user.problem.rhs(t, y, dy).is_err())
}

unsafe extern "C" fn jacobian<P: OdeProblem + ?Sized>(
    t: f64,
    y: N_Vector,
    _: N_Vector,
    matrix: SUNMatrix,
    user: *mut c_void,
    _: N_Vector,
    _: N_Vector,
    _: N_Vector,
) -> c_int {
    let user = unsafe { &mut *user.cast::<User<'_, P>>() };
    let y = unsafe { view(y, user.size) };
    if user.places.is_empty() {
        let full = unsafe { from_raw_parts_mut(SUNDenseMatrix_Data(matrix), user.size * user.size) };
        return c_int::from(user.problem.jacobian(t, y, full).is_err());
    }
    let failed = user.problem.jacobian(t, y, &mut user.values).is_err();
    let data = unsafe { from_raw_parts_mut(SUNBandMatrix_Data(matrix), SUNBandMatrix_LData(matrix) as usize) };
    for (place, value) in user.places.iter().zip(&user.values) {
        data[*place] = *value;
    }
    c_int::from(failed)
}

unsafe extern "C" fn roots(t: f64, y: N_Vector, values: *mut f64, user: *mut c_void) -> c_int {
    let user = unsafe { &mut *user.cast::<User<'_, dyn Hybrid>>() };
    let y = unsafe { view(y, user.size) };
    let values = unsafe { from_raw_parts_mut(values, user.problem.count()) };
    c_int::from(user.problem.evaluate(t, y, values).is_err())
}

/// Everything CVODE or IDA must be given and what must be freed in the end.
struct Session {
    context: SUNContext,
    memory: *mut c_void,
    y: N_Vector,
    slope: N_Vector,
    tolerance: N_Vector,
    matrix: SUNMatrix,
    solver: SUNLinearSolver,
    fixed_point: SUNNonlinearSolver,
    is_ida: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Formula {
    Bdf,
    Adams,
}

impl Session {
    unsafe fn cvode<P: OdeProblem + ?Sized>(
        user: &mut User<'_, P>,
        formula: Formula,
        options: &Options,
        x: &mut [f64],
        absolute: &mut [f64],
    ) -> Session {
        unsafe {
            let n = x.len() as sunindextype;
            let mut context = null_mut();
            SUNContext_Create(0, &raw mut context);
            let y = N_VMake_Serial(n, x.as_mut_ptr(), context);
            for (i, absolute) in absolute.iter_mut().enumerate() {
                *absolute = options.absolute(i);
            }
            let tolerance = N_VMake_Serial(n, absolute.as_mut_ptr(), context);
            let memory = CVodeCreate(if formula == Formula::Bdf { CV_BDF } else { CV_ADAMS }, context);
            CVodeInit(memory, Some(rhs::<P>), 0.0, y);
            CVodeSVtolerances(memory, options.relative_tolerance, tolerance);
            CVodeSetUserData(memory, std::ptr::from_mut(user).cast());
            CVodeSetMaxNumSteps(memory, 100_000_000);
            let mut session = Session {
                context,
                memory,
                y,
                slope: null_mut(),
                tolerance,
                matrix: null_mut(),
                solver: null_mut(),
                fixed_point: null_mut(),
                is_ida: false,
            };
            if formula == Formula::Adams {
                session.fixed_point = SUNNonlinSol_FixedPoint(y, 0, context);
                CVodeSetNonlinearSolver(memory, session.fixed_point);
                return session;
            }
            match user.problem.jacobian_pattern() {
                Some(pattern) => {
                    session.matrix = SUNBandMatrix(n, 1, 1, context);
                    session.solver = SUNLinSol_Band(y, session.matrix, context);
                    let width = SUNBandMatrix_LDim(session.matrix) as usize;
                    let diagonal = SUNBandMatrix_StoredUpperBandwidth(session.matrix) as usize;
                    user.values = vec![0.0; pattern.entries()];
                    for j in 0..pattern.columns {
                        let rows = pattern.column(j).iter();
                        user.places.extend(rows.map(|i| j * width + *i as usize + diagonal - j));
                    }
                }
                None => {
                    session.matrix = SUNDenseMatrix(n, n, context);
                    session.solver = SUNLinSol_Dense(y, session.matrix, context);
                }
            }
            CVodeSetLinearSolver(memory, session.solver, session.matrix);
            CVodeSetJacFn(memory, Some(jacobian::<P>));
            session
        }
    }

    unsafe fn effort(&self) -> String {
        let mut counts: [c_long; 4] = [0; 4];
        unsafe {
            if self.is_ida {
                IDAGetNumSteps(self.memory, &raw mut counts[0]);
                IDAGetNumResEvals(self.memory, &raw mut counts[1]);
                IDAGetNumJacEvals(self.memory, &raw mut counts[2]);
                IDAGetNumLinSolvSetups(self.memory, &raw mut counts[3]);
            } else {
                CVodeGetNumSteps(self.memory, &raw mut counts[0]);
                CVodeGetNumRhsEvals(self.memory, &raw mut counts[1]);
                CVodeGetNumJacEvals(self.memory, &raw mut counts[2]);
                CVodeGetNumLinSolvSetups(self.memory, &raw mut counts[3]);
            }
        }
        let [steps, rhs, jacobians, setups] = counts;
        format!("steps {steps:6} rhs {rhs:7} jacobians {jacobians:5} factorisations {setups:6}")
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe {
            if self.is_ida {
                IDAFree(&raw mut self.memory);
            } else {
                CVodeFree(&raw mut self.memory);
            }
            for vector in [self.y, self.slope, self.tolerance] {
                if !vector.is_null() {
                    N_VDestroy(vector);
                }
            }
            if !self.solver.is_null() {
                SUNLinSolFree(self.solver);
                SUNMatDestroy(self.matrix);
            }
            if !self.fixed_point.is_null() {
                SUNNonlinSolFree(self.fixed_point);
            }
            SUNContext_Free(&raw mut self.context);
        }
    }
}

pub fn smooth(case: &mut Case, tolerance: f64) -> Run {
    let options = case.problem.options(tolerance);
    let mut x = case.problem.start.clone();
    let size = x.len();
    let mut results = Vec::new();
    let begin = cpu_time();
    let mut absolute = vec![0.0; size];
    let mut user = User { problem: &mut case.problem, size, places: Vec::new(), values: Vec::new() };
    let effort;
    unsafe {
        let session = Session::cvode(&mut user, Formula::Bdf, &options, &mut x, &mut absolute);
        CVodeSetStopTime(session.memory, case.outputs.last().copied().unwrap_or(0.0));
        let mut reached = 0.0;
        for t in &case.outputs {
            if CVode(session.memory, *t, session.y, &raw mut reached, CV_NORMAL) < 0 {
                break;
            }
            results.push(view(session.y, size).to_vec());
        }
        effort = session.effort();
    }
    let seconds = cpu_time() - begin;
    let error = if results.len() == case.outputs.len() { case.error(&results) } else { f64::INFINITY };
    Run { tolerance, error, seconds, effort }
}

pub fn hybrid(problem: &dyn Hybrid, formula: Formula, tolerance: f64) -> Run {
    let mut fresh = problem.again();
    let options = fresh.tolerance_options(tolerance);
    let mut x = fresh.start();
    let size = x.len();
    let count = fresh.count();
    let mut directions = fresh.directions();
    let mut status = vec![0_i8; count];
    let mut found: Vec<c_int> = vec![0; count];
    let begin = cpu_time();
    let mut absolute = vec![0.0; size];
    let mut user = User { problem: &mut *fresh, size, places: Vec::new(), values: Vec::new() };
    let mut t = 0.0;
    let mut effort = [0; 2];
    let mut events = 0;
    unsafe {
        let session = Session::cvode(&mut user, formula, &options, &mut x, &mut absolute);
        CVodeRootInit(session.memory, count as c_int, Some(roots));
        CVodeSetRootDirection(session.memory, directions.as_mut_ptr());
        CVodeSetNoInactiveRootWarn(session.memory);
        CVodeSetStopTime(session.memory, problem.horizon());
        while events < problem.events() {
            if CVode(session.memory, problem.horizon(), session.y, &raw mut t, CV_NORMAL) != CV_ROOT_RETURN {
                t = f64::NAN;
                break;
            }
            CVodeGetRootInfo(session.memory, found.as_mut_ptr());
            let y = view_mut(session.y, size);
            for (function, found) in found.iter().enumerate() {
                if *found != 0 {
                    user.problem.handle(function, y, &mut status);
                    events += 1;
                }
            }
            let mut counts: [c_long; 2] = [0; 2];
            CVodeGetNumSteps(session.memory, &raw mut counts[0]);
            CVodeGetNumRhsEvals(session.memory, &raw mut counts[1]);
            effort[0] += counts[0];
            effort[1] += counts[1];
            CVodeReInit(session.memory, t, session.y);
            CVodeSetStopTime(session.memory, problem.horizon());
        }
    }
    let seconds = cpu_time() - begin;
    let effort = format!("steps {:6} rhs {:7}", effort[0], effort[1]);
    Run { tolerance, error: problem.error(t, &x), seconds, effort }
}

unsafe extern "C" fn residual(t: f64, y: N_Vector, dy: N_Vector, r: N_Vector, user: *mut c_void) -> c_int {
    let user = unsafe { &mut *user.cast::<User<'_, RobertsonDae>>() };
    let (y, dy, r) = unsafe { (view(y, user.size), view(dy, user.size), view_mut(r, user.size)) };
    c_int::from(user.problem.residual(t, y, dy, r).is_err())
}

unsafe extern "C" fn implicit_jacobian(
    t: f64,
    c: f64,
    y: N_Vector,
    dy: N_Vector,
    _: N_Vector,
    matrix: SUNMatrix,
    user: *mut c_void,
    _: N_Vector,
    _: N_Vector,
    _: N_Vector,
) -> c_int {
    let user = unsafe { &mut *user.cast::<User<'_, RobertsonDae>>() };
    let (y, dy) = unsafe { (view(y, user.size), view(dy, user.size)) };
    let full = unsafe { from_raw_parts_mut(SUNDenseMatrix_Data(matrix), user.size * user.size) };
    c_int::from(DaeProblem::jacobian(user.problem, t, y, dy, c, full).is_err())
}

pub fn implicit(problem: &mut RobertsonDae, tolerance: f64) -> Run {
    let options = RobertsonDae::options(tolerance);
    let (outputs, mut results) = (problem.outputs.clone(), Vec::new());
    let (mut x, mut dx) = ([1.0, 0.0, 0.0], [-0.04, 0.04, 0.0]);
    let begin = cpu_time();
    let mut absolute = [0, 1, 2].map(|i| options.absolute(i));
    let mut id = [1.0, 1.0, 0.0];
    let effort;
    unsafe {
        let mut user = User { problem, size: 3, places: Vec::new(), values: Vec::new() };
        let mut context = null_mut();
        SUNContext_Create(0, &raw mut context);
        let y = N_VMake_Serial(3, x.as_mut_ptr(), context);
        let slope = N_VMake_Serial(3, dx.as_mut_ptr(), context);
        let tolerances = N_VMake_Serial(3, absolute.as_mut_ptr(), context);
        let kinds = N_VMake_Serial(3, id.as_mut_ptr(), context);
        let memory = IDACreate(context);
        IDAInit(memory, Some(residual), 0.0, y, slope);
        IDASVtolerances(memory, tolerance, tolerances);
        IDASetUserData(memory, (&raw mut user).cast());
        IDASetMaxNumSteps(memory, 100_000_000);
        IDASetId(memory, kinds);
        IDASetSuppressAlg(memory, 1);
        let matrix = SUNDenseMatrix(3, 3, context);
        let solver = SUNLinSol_Dense(y, matrix, context);
        IDASetLinearSolver(memory, solver, matrix);
        IDASetJacFn(memory, Some(implicit_jacobian));
        IDASetStopTime(memory, outputs.last().copied().unwrap_or(0.0));
        let session = Session {
            context,
            memory,
            y,
            slope,
            tolerance: tolerances,
            matrix,
            solver,
            fixed_point: null_mut(),
            is_ida: true,
        };
        let mut reached = 0.0;
        for t in &outputs {
            if IDASolve(memory, *t, &raw mut reached, y, slope, IDA_NORMAL) < 0 {
                break;
            }
            results.push(view(y, 3).to_vec());
        }
        effort = session.effort();
        N_VDestroy(kinds);
    }
    let seconds = cpu_time() - begin;
    let error = if results.len() == outputs.len() { problem.error(&results) } else { f64::INFINITY };
    Run { tolerance, error, seconds, effort }
}
