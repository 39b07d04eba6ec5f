module.exports = function (event) {};
module.exports.named = (event) => { event.messages.push('c'); };
