/**
 * How much of the hostile tests is run, and with which random choices. `npm run test:hostile` sets
 * these variables; `npm test` runs a short part.
 */
const number = (name: string): number | undefined => {
  const text = process.env[name];
  return text === undefined || text === '' ? undefined : Number(text);
};

export const seedVariable = 'HOSTILE_SEED';
export const countVariable = 'HOSTILE_COUNT';
export const fromVariable = 'HOSTILE_FROM';
export const onlyVariable = 'HOSTILE_ONLY';

/** Whether everything is run. */
export const isLong = number(countVariable) !== undefined;
/** For one answer; more beside the other tests, which take the processor too. */
export const mostMs = isLong ? 2_000 : 10_000;
/** The seed of the mutations: another one in each run, unless it is set. */
export const seed = number(seedVariable) ?? Date.now() % 1_000_000;
export const count = number(countVariable) ?? 60;
/** The number of the first mutation. */
export const from = number(fromVariable) ?? 0;
/** Whether nothing else is run, because inputs are repeated. */
export const isRepetition = number(fromVariable) !== undefined;

/** What the attacks' descriptions must contain, where only some are run. */
export const only = process.env[onlyVariable] ?? '';

/** Shows how far a long run is. */
export function progress(text: string): void {
  if (isLong) process.stderr.write(`${text}\n`);
}
