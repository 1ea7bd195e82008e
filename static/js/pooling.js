/* The form of a new pool: buttons that add lines to its text fields, and that tick models. */
import { bindLineAdders } from "./lib/lines.js";
import { bindTickers } from "./lib/ticks.js";

bindLineAdders();
bindTickers();
