//! The Modelica text of a graph, and the way back from its lines to the places in the graph's text.

mod common;

use base::SourceMap;
use bond::to_modelica;
use common::good;
use expect_test::expect;

const GRAPH: &str = "bondgraph Pump \"fills a tank\"
subgraph Line(r = 2 \"Pa.s/m3\")
  port a, b
  1 q
  a -> q -> R loss = r \"Pa.s/m3\"
  q -> b
end Line
Se p = 100 \"Pa\"
Line pipe(r = 3)
C tank = 0.5 \"m3/Pa\" start q = 1
0 node
p -> pipe.a
pipe.b -> node -> tank
R valve: f = 0.1*sqrt(abs(e))*sign(e)
1 out on when node.e > 10
node -> out -> valve
output tank.e
experiment StopTime = 5
";

#[test]
fn model_of_a_graph() {
    let (graph, _) = good(GRAPH);
    expect![[r#"
        model Pump "fills a tank"
          record Bond "effort and flow of a bond"
            Real e;
            Real f;
          end Bond;
          record ZeroJunction "one effort, flows add up"
            Real e;
          end ZeroJunction;
          record OneJunction "one flow, efforts add up"
            Real f;
          end OneJunction;
          record Source "gives effort or flow"
            Real e;
            Real f;
          end Source;
          record Resistor "dissipates power: e = R*f"
            parameter Real R;
            Real e;
            Real f;
          end Resistor;
          record Capacitor "stores displacement: q = C*e"
            parameter Real C;
            Real e;
            Real f;
            Real q;
          end Capacitor;
          record GeneralResistor "dissipates power by a law of its own"
            Real e;
            Real f;
          end GeneralResistor;
          record Line
            parameter Real r;
            OneJunction q;
            Resistor loss;
          end Line;
          Source p(e(unit = "Pa") = 100, f(unit = "m3/s"));
          Capacitor tank(C(unit = "m3/Pa") = 0.5, e(unit = "Pa"), f(unit = "m3/s"), q(unit = "m3", start = 1, fixed = true));
          ZeroJunction node(e(unit = "Pa"));
          GeneralResistor valve(e(unit = "Pa"), f(unit = "m3/s"));
          OneJunction out;
          Bond pipe_q_node(e(unit = "Pa"), f(unit = "m3/s"));
          Bond node_out(e(unit = "Pa"), f(unit = "m3/s"));
          Line pipe(
            r(unit = "Pa.s/m3") = 3,
            q(f(unit = "m3/s")),
            loss(R(unit = "Pa.s/m3") = pipe.r, e(unit = "Pa"), f(unit = "m3/s"))
          );
          output Real tank_e = tank.e "tank.e";
        equation
          // Se p
          // 1 pipe.q
          pipe.loss.f = pipe.q.f;
          p.f = pipe.q.f;
          pipe_q_node.f = pipe.q.f;
          p.e = pipe.loss.e + pipe_q_node.e;
          // R pipe.loss
          pipe.loss.e = pipe.loss.R*pipe.loss.f;
          // C tank
          der(tank.q) = tank.f;
          tank.q = tank.C*tank.e;
          // 0 node
          pipe_q_node.e = node.e;
          tank.e = node.e;
          node_out.e = node.e;
          pipe_q_node.f = tank.f + node_out.f;
          // R valve
          valve.f = 0.1*sqrt(abs(valve.e))*sign(valve.e);
          // 1 out
          node_out.f = out.f;
          valve.f = out.f;
          if node.e > 10 then
            node_out.e = valve.e;
          else
            out.f = 0;
          end if;
          annotation(experiment(StopTime = 5));
        end Pump;
    "#]].assert_eq(&to_modelica(&graph, "").text);
}

#[test]
fn lines_lead_back_to_the_graph() {
    let (graph, _) = good(GRAPH);
    let model = to_modelica(&graph, "");
    let mut sources = SourceMap::default();
    let file = sources.add("graph.bond", GRAPH);
    let line = model.text.lines().position(|line| line.contains("valve.f = 0.1")).unwrap();
    let origin = model.origins[line].unwrap();
    assert_eq!(origin.file, file);
    assert_eq!(sources.text(origin), "f = 0.1*sqrt(abs(e))*sign(e)");
    assert_eq!(model.text.lines().count(), model.origins.len());
}
