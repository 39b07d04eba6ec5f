export default { events: { "turn.started"() {} } };
