module.exports = { events: { "turn.started"() {} } };
