throw new Error('no');
export default () => {};
