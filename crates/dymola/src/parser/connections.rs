//! `connect`: objects in series and in parallel, and at nodes.

use super::*;

const FORM: &str = "connections are `a - b` (series), `a // b` (parallel), `a at n` and `a from n1 to n2`";

impl Parser<'_> {
    pub(super) fn connect(&mut self) -> (Option<ItemKind>, bool) {
        self.bump();
        let (connections, whole) = self.list(Self::connection);
        (Some(ItemKind::Connect(connections)), whole)
    }

    fn connection(&mut self) -> Result<Connection> {
        let object = self.series()?;
        let begin = object.span;
        let kind = if self.accept("at") || self.accept("=") {
            ConnectionKind::At(object, self.series()?)
        } else if self.is("from") || self.is("to") {
            let from = match self.accept("from") {
                true => Some(self.object()?),
                false => None,
            };
            let to = match self.accept("to") {
                true => Some(self.object()?),
                false => None,
            };
            ConnectionKind::FromTo { object, from, to }
        } else {
            ConnectionKind::Chain(object)
        };
        Ok(Connection { kind, span: begin.to(self.previous().span) })
    }

    fn series(&mut self) -> Result<Chain> {
        self.chain("-", ChainKind::Series, Self::parallel)
    }

    fn parallel(&mut self) -> Result<Chain> {
        self.chain("//", ChainKind::Parallel, Self::object)
    }

    fn chain(
        &mut self,
        mark: &str,
        kind: fn(Vec<Chain>) -> ChainKind,
        element: fn(&mut Self) -> Result<Chain>,
    ) -> Result<Chain> {
        let first = element(self)?;
        if !self.is(mark) || self.begins_equation() {
            return Ok(first);
        }
        let mut chains = vec![first];
        while self.is(mark) && !self.begins_equation() {
            self.bump();
            chains.push(element(self)?);
        }
        let span = chains[0].span.to(self.previous().span);
        Ok(Chain { kind: kind(chains), span })
    }

    fn object(&mut self) -> Result<Chain> {
        let begin = self.token();
        let is_loop = self.is("loop") && self.ahead_is(1, "(");
        if is_loop {
            self.bump();
        }
        if self.accept("(") {
            self.depth += 1;
            let inner = match self.depth > DEPTH {
                true => Err(self.too_deep()),
                false => self.series(),
            };
            self.depth -= 1;
            let inner = inner?;
            self.expect(")", FORM, "Connections")?;
            let span = begin.span.to(self.previous().span);
            let kind = match is_loop {
                true => ChainKind::Loop(Box::new(inner)),
                false => inner.kind,
            };
            return Ok(Chain { kind, span });
        }
        let object = self.reference("an object", FORM, "Connections")?;
        Ok(Chain { span: object.span, kind: ChainKind::Object(object) })
    }
}
