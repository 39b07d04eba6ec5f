import { KEY, Handler, Level } from "../lib/shapes";
import { Missing } from "./a-common";
import unused from "no-such-package";
const handler: Handler = (level: Level) => {};
export default { events: { [KEY]: handler } };
