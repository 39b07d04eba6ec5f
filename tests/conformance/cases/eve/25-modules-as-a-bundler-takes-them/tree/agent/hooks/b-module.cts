import { defineHook } from "eve/hooks";
export default defineHook({ events: { "turn.started"(event: unknown) {} } });
