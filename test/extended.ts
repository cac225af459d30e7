/**
 * True in `npm run test:more`. It also runs the files that import this constant, which then test
 * more.
 */
export const more = process.env['TEST_MORE'] === '1';

/**
 * Number of runs of a property: `count` in `npm run test:more`, an eighth of that in `npm test`.
 */
export const propertyRuns = (count: number): number => (more ? count : Math.ceil(count / 8));
