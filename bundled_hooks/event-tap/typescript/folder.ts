// Receives every event of its host and stores it in a file. HOOK.md says which events, and where.

import { tap } from "./spool.ts";

interface HookEvent {
  type: string;
  action: string;
  sessionKey: string;
  timestamp: Date;
  context: Record<string, unknown>;
}

tap(() => ({ kind: "loaded" }));

export default function eventTap(event: HookEvent): void {
  tap(
    () => ({
      kind: "folder",
      key: event.action ? `${event.type}:${event.action}` : event.type,
      type: event.type,
      action: event.action,
      session: event.sessionKey,
      timestamp: event.timestamp,
      context: event.context,
    }),
    ["cfg"],
  );
}
