// Receives the events of plugin hooks that only observe, and stores each in a file. Installed by `hookscope tap
// install --plugin-hooks`, removed by `hookscope tap remove`. Its handlers return nothing.

import { tap } from "./spool.ts";

type Members = Record<string, unknown>;
interface Api {
  on(name: string, handler: (event: Members, ctx?: Members) => void): void;
}

function observer(name: string): (event: Members, ctx?: Members) => void {
  return (event, ctx) => {
    tap(
      () => ({
        kind: "plugin",
        key: name,
        type: name,
        session: ctx?.sessionKey ?? event.sessionKey,
        timestamp: event.timestamp,
        context: event,
        ctx: ctx ?? {},
      }),
      ["cfg", "config"],
    );
  };
}

export default function register(api: Api): void {
  tap(() => ({ kind: "loaded" }));
  api.on("EVENT", observer("EVENT"));
}
