//! Calls of outside functions, and the external objects that they make. An object is freed by its destructor when nothing refers to
//! it any more, once (specification 12.9.7).

use std::sync::Arc;

use dae::function::External;
use dae::{OutsideFunctions, Value};

use crate::{Native, Object};

/// What the constructor of an external object gave.
pub struct OutsideObject {
    address: u64,
    destructor: Option<Arc<External>>,
    functions: Arc<dyn OutsideFunctions>,
}

impl Drop for OutsideObject {
    fn drop(&mut self) {
        // A destructor takes the object and nothing else; any other has nobody to give it its arguments.
        if let Some(destructor) = self.destructor.as_ref().filter(|known| known.arguments.len() == 1) {
            let mut values = [Value::Object(self.address)];
            // The run is over, and nobody is left to be told.
            let _ = self.functions.call(destructor, &mut values, &mut |text| eprintln!("{text}"));
        }
    }
}

impl Native {
    /// Objects travel as addresses; the model has handles of them.
    pub(crate) fn call_outside(
        &mut self,
        functions: &Arc<dyn OutsideFunctions>,
        external: &External,
        values: &mut [Value],
    ) -> Result<Option<Value>, String> {
        for (position, value) in values.iter_mut().enumerate() {
            let is_output = external.outputs.get(position).copied().unwrap_or(false);
            if let (Value::Object(handle), false) = (&*value, is_output) {
                *value = Value::Object(self.outside_address(*handle)?);
            }
        }
        let mut said = Vec::new();
        let result = functions.call(external, values, &mut |text| said.push(text.to_owned()));
        said.iter().for_each(|text| self.say(text));
        let own = |native: &mut Self, value: &Value| match value {
            // A constructor reports its failure in this way (specification 12.9.7).
            Value::Object(0) => {
                Err(format!("the constructor `{}` returned a null pointer: it failed", external.symbol))
            }
            Value::Object(address) => Ok(native.add_object(Object::Outside(OutsideObject {
                address: *address,
                destructor: external.destructor.clone(),
                functions: functions.clone(),
            }))),
            other => Ok(other.clone()),
        };
        let result = result?;
        for (position, value) in values.iter_mut().enumerate() {
            if external.outputs.get(position).copied().unwrap_or(false) {
                *value = own(self, value)?;
            }
        }
        result.map(|value| own(self, &value)).transpose()
    }

    fn outside_address(&self, handle: u64) -> Result<u64, String> {
        match self.object(handle)? {
            Object::Outside(object) => Ok(object.address),
            _ => Err("an external object is given to a function of another kind of object".to_owned()),
        }
    }
}
