export default async () => {
  throw new TypeError("no definition today");
};
