// Arguments: the host's module, the name of its function, and a workspace. Prints what the function finds.
import { pathToFileURL } from "node:url";

const [file, name, workspace] = process.argv.slice(2);
const found = await (await import(pathToFileURL(file)))[name]({
  agentRoot: `${workspace}/agent`,
  appRoot: workspace,
});
process.stdout.write(JSON.stringify(found));
