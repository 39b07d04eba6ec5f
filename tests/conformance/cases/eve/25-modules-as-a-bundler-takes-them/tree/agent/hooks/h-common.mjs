exports.events = { "turn.started"() {} };
