export default (event) => { event.messages.push('b'); };
export const other = (event) => { event.messages.push('b other'); };
