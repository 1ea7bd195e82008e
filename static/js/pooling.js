/* The form of a new pool: buttons that add lines to its text fields. */
import { bindLineAdders } from "./lib/lines.js";

bindLineAdders();
