/**
 * Length and random choices of the hostile tests. `npm run test:hostile` sets these variables; `npm
 * test` runs a short part.
 */
const number = (name: string): number | undefined => {
  const text = process.env[name] ?? '';
  return text === '' ? undefined : Number(text);
};

export const seedVariable = 'HOSTILE_SEED';
export const countVariable = 'HOSTILE_COUNT';
export const fromVariable = 'HOSTILE_FROM';
export const onlyVariable = 'HOSTILE_ONLY';

/** True for the full length. */
export const isLong = number(countVariable) !== undefined;
/** Limit on a response's time, longer next to other tests, which share the processor. */
export const maxMs = isLong ? 2_000 : 10_000;
/** Seed of the generated inputs; random unless set. */
export const seed = number(seedVariable) ?? Date.now() % 1_000_000;
/** Number of generated inputs. */
export const count = number(countVariable) ?? 60;
/** Number of the first generated input. */
export const from = number(fromVariable) ?? 0;
/** True to repeat generated inputs only. */
export const isRepetition = number(fromVariable) !== undefined;

/** Runs only bombs with this text in their description. */
export const only = process.env[onlyVariable] ?? '';

/** Shows the progress of a long run. */
export function progress(text: string): void {
  if (isLong) process.stderr.write(`${text}\n`);
}

/**
 * Returns a function that prints the number of finished inputs and their rate, every 1,000 inputs.
 */
export function createRateReport(what: string, more = () => ''): (done: number) => void {
  const startedAt = performance.now();
  return (done) => {
    if (done % 1_000 !== 0) return;
    const rate = Math.round((1_000 * done) / (performance.now() - startedAt));
    progress(`${done} of ${count} ${what}, ${rate} per second${more()}`);
  };
}
