import explorer from "./files";
import live from "./live";
import outputs from "./outputs";

export default [outputs, explorer, live];
