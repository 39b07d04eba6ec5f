// Hears every event of its agent and keeps it in a file on this machine: made by `hookscope tap install`, taken
// away by `hookscope tap remove`. It is meant for a development machine; where that file's folder is not there,
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
