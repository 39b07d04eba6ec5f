export = { events: { "turn.completed"() {} } };
