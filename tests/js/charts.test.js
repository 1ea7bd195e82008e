import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesOf, wholeTicks } from "../../static/js/charts/draw.js";
import { csv } from "../../static/js/charts/download.js";

const data = (rows) => ({ columns: [["label", "Model"], ["value", "AUC, macro"]], rows });

test("a chart's CSV has its columns in order, full precision and empty cells for the undefined", () => {
  const rows = [{ label: "a", value: 0.123456789 }, { label: "b", value: null }];
  assert.equal(csv(data(rows)), 'Model,"AUC, macro"\na,0.123456789\nb,\n');
});

test("no cell of a CSV runs as a formula, and negative numbers stay numbers", () => {
  const rows = [{ label: "=HYPERLINK(1)", value: -0.5 }, { label: 'say "hi"', value: 1 }];
  assert.equal(csv(data(rows)), `Model,"AUC, macro"\n'=HYPERLINK(1),-0.5\n"say ""hi""",1\n`);
});

test("series keep the order in which they appear", () => {
  assert.deepEqual(seriesOf(data([{ series: "b" }, { series: "a" }, { series: "b" }, {}])), ["b", "a"]);
});

test("ticks of whole numbers are round ones, and few enough for a phone", () => {
  const steps = Array.from({ length: 160 }, (_, x) => ({ x }));
  assert.deepEqual(wholeTicks(steps, 900), [0, 20, 40, 60, 80, 100, 120, 140]);
  assert.deepEqual(wholeTicks(steps, 250), [0, 50, 100, 150]);
  assert.deepEqual(wholeTicks([{ x: 1 }, { x: 3 }, { x: 3 }, { x: 5 }], 900), [1, 3, 5]);
});
