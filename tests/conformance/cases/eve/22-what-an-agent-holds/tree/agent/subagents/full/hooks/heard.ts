export default { events: {} };;}
