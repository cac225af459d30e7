/** Whether this is `npm run test:more`. It also runs the files that import this one, which then do more. */
export const more = process.env['TEST_MORE'] === '1';

/** How often a property is tried: `count` times in `npm run test:more`, an eighth of it in `npm test`. */
export const propertyRuns = (count: number): number => (more ? count : Math.ceil(count / 8));
