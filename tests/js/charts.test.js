import assert from "node:assert/strict";
import { test } from "node:test";
import { seriesOf } from "../../static/js/charts/draw.js";
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
