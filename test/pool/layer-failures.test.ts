import t from 'tap';
import { ServiceError } from '../../contract/errors.ts';
import { watermarkInput } from '../../pool/inputs.ts';
import { LayerFailures } from '../../pool/layer-failures.ts';
import { until } from '../until.ts';

const url = 'https://a.example/mark.png';
const watermark = (text = url) => ({ project: 'prj_1', input: watermarkInput(new URL(text)) });
const failure = (what: string) => new ServiceError('source_timeout', what);

/** Opens a cache with a clock, and with checks that the test ends. */
function open() {
  let now = 1;
  const checks: Array<{ resolve(): void; reject(error: Error): void }> = [];
  const failures = new LayerFailures(
    () => new Promise((resolve, reject) => checks.push({ resolve, reject })),
    () => now,
  );
  const findError = (text = url) => failures.find(watermark(text))?.message ?? null;
  const pass = (ms: number) => {
    now += ms;
  };
  return { failures, checks, findError, pass };
}

t.test('caches a failure and rechecks it once', async (t) => {
  const { failures, checks, findError, pass } = open();
  t.equal(findError(), null);
  failures.set(watermark(), failure('It is slow.'));
  const known = 'It is slow.';
  pass(4_999);
  t.equal(findError(), known);
  t.equal(findError('https://a.example./mark.png#a'), known, 'any spelling of the URL');
  t.equal(findError('https://a.example/other.png'), null);
  t.equal(checks.length, 0);
  pass(1);
  for (let request = 0; request < 3; request += 1) t.equal(findError(), known, 'no request waits');
  pass(20_000);
  t.equal(findError(), known);
  t.equal(checks.length, 1);

  checks[0]?.reject(new ServiceError('source_not_found', 'It is gone.'));
  await until('it has failed again', () => findError() !== known);
  t.equal(findError(), 'It is gone.');
  pass(5_000);
  t.equal(findError(), 'It is gone.');
  checks[1]?.resolve();
  await until('it works', () => findError() === null);
  t.equal(checks.length, 2);
});

t.test('keeps the failure if the check hits overload', async (t) => {
  const { failures, checks, findError, pass } = open();
  failures.set(watermark(), failure('It is slow.'));
  pass(5_000);
  findError();
  checks[0]?.reject(new ServiceError('overloaded', 'Too much to do.'));
  await until('it is requested again', () => {
    pass(5_000);
    findError();
    return checks.length === 2;
  });
  t.equal(findError(), 'It is slow.');
});

t.test('ignores a recheck if requests have used the layer meanwhile', async (t) => {
  const { failures, checks, findError, pass } = open();
  const recheck = (text = url) => {
    failures.set(watermark(text), failure('It is slow.'));
    pass(5_000);
    findError(text);
    return checks.at(-1);
  };
  /** Resolves after all rechecks that have ended. */
  const settled = async () => {
    const other = 'https://a.example/other.png';
    recheck(other)?.resolve();
    await until('the other layer works', () => findError(other) === null);
  };
  for (const code of ['source_not_found', 'overloaded'] as const) {
    const check = recheck();
    failures.delete(watermark());
    check?.reject(new ServiceError(code, 'It failed before.'));
    await settled();
    t.equal(findError(), null, code);
  }
  const check = recheck();
  failures.set(watermark(), failure('It is gone.'));
  check?.resolve();
  await settled();
  t.equal(findError(), 'It is gone.');
});

t.test('expires unused failures, and deletes a single failure', async (t) => {
  const { failures, checks, findError, pass } = open();
  failures.set(watermark(), failure('It is slow.'));
  pass(60_001);
  t.equal(findError(), null);
  failures.set(watermark(), failure('It is slow.'));
  failures.delete(watermark());
  t.equal(findError(), null);
  t.equal(checks.length, 0);
});
