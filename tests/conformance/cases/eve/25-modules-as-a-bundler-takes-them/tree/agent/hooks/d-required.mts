import fs = require("node:fs");
export default { events: { "turn.completed"() { fs.existsSync("/"); } } };
