// Example: audit logging hook
api.registerHook({
event: "message-sent",
handler: async (ctx) => {
await auditLog.record({
sessionKey: ctx.sessionKey,
channel: ctx.channel,
direction: ctx.direction,
timestamp: Date.now(),
});
},
priority: 100, // Run after other hooks
});
