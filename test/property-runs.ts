/**
 * How often a property is tried: `count` times in `npm run test:more`, which also runs the files that import
 * this one, and an eighth of it in `npm test`.
 */
export const propertyRuns = (count: number): number =>
  process.env['TEST_MORE'] === '1' ? count : Math.ceil(count / 8);
