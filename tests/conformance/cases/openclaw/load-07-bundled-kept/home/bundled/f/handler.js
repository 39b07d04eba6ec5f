import './nope.js';
export default () => {};
