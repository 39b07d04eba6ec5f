// Receives every event of its agent and stores it in a file on this machine. Installed by `hookscope tap install`,
// removed by `hookscope tap remove`. It is meant for development machines: if the file's folder does not exist,
// it does nothing.

import { defineHook } from "eve/hooks";

import { tap } from "./spool.ts";

tap(() => ({ kind: "loaded" }));

export default defineHook({
  events: {
    "*"(event, ctx) {
      tap(() => ({
        kind: "stream",
        key: event.type,
        type: event.type,
        session: ctx.session.id,
        timestamp: event.meta?.at,
        context: event.data ?? {},
        meta: event.meta ?? {},
        ctx: { agent: ctx.agent, channel: ctx.channel, session: ctx.session },
      }));
    },
  },
});
