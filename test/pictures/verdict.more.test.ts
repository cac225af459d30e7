import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { noise } from '../pool/rendering/pictures.ts';
import { type Request, reference, requests } from './reference.ts';
import { groupVerdicts, summary } from './report.ts';
import { type Attempt, isWrong, judge } from './verdict.ts';

const limits = { mean: 1, most: 16, slowFactor: 3, slowMs: 100 };
const about = { file: 'a.png', request: 'whole', reference: 'sharp', features: [] } as const;
const good = async (image: Sharp, ms = 10): Promise<Attempt> => ({
  image: await image.png().toBuffer(),
  failure: null,
  status: 200,
  ms,
});
const bad = (status: number, failure = 'no'): Attempt => ({ image: null, failure, status, ms: 10 });
const picture = sharp(await noise(60, 40).png().toBuffer());
const expected = await good(picture.clone());

t.test('classifies results by their difference', async (t) => {
  const clear = { r: 1, g: 2, b: 3, alpha: 0 };
  const cases = [
    ['same', expected, expected, null],
    ['same', await good(picture.clone().linear(1, 2)), expected, null, 2],
    ['differs', await good(picture.clone().rotate(90)), expected, /orientation: 40 x 60/],
    ['differs', await good(picture.clone().resize(59, 40)), expected, /size: 59 x 40/],
    ['differs', await good(picture.clone().linear(1, 40)), expected, /pixels: by .* up to 40/],
    [
      'differs',
      await good(picture.clone().ensureAlpha(0.5)),
      expected,
      /alpha: by 12[78].*up to 12[78]/,
    ],
    ['differs', await good(picture.clone().withIccProfile('p3')), expected, /profile: has one/],
    ['read by the service alone', expected, bad(0, 'unsupported'), /sharp: unsupported/],
    ['refused by both', bad(415), bad(0), /service: no/],
    ['refused by the service alone', bad(422, '422 x'), expected, /service: 422 x/],
    ['failed', bad(500), bad(0), /service/],
    ['failed', bad(0, 'socket closed'), expected, /socket closed/],
  ] as const;
  for (const [outcome, made, wanted, reason, mean = 1] of cases) {
    const verdict = await judge(about, made, wanted, { ...limits, mean });
    t.equal(verdict.outcome, outcome, verdict.reasons.join('; '));
    if (reason !== null) t.match(verdict.reasons.join('; '), reason);
    t.equal(
      isWrong(verdict),
      /differs|failed|service alone/.test(outcome) && !/^read/.test(outcome),
    );
  }
  const blank = (background: object) =>
    good(sharp({ create: { width: 9, height: 9, channels: 4, background } }));
  const same = await judge(about, await blank(clear), await blank({ ...clear, r: 200 }), limits);
  t.equal(same.outcome, 'same', 'colours of transparent pixels');
});

t.test('calls a result slow above a multiple of sharp and a minimum time', async (t) => {
  const slow = async (ms: number, referenceMs: number) =>
    (await judge(about, { ...expected, ms }, { ...expected, ms: referenceMs }, limits)).slow;
  t.same([await slow(400, 100), await slow(200, 100), await slow(90, 1)], [true, false, false]);
  const verdict = await judge(about, { ...expected, ms: 400 }, { ...expected, ms: 100 }, limits);
  t.match(
    summary([verdict]),
    /a\.png \(whole\): 400 ms, sharp 100 ms, 4\.0 x[\s\S]* 1 same\n[\s\S]* 1 slow/,
  );
});

t.test('orients the reference, and keeps it within the limits', async (t) => {
  const stored = await noise(600, 300).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const [whole, small] = requests as readonly [Request, Request];
  t.match(await sharp(await reference(stored, whole)).metadata(), { width: 300 });
  t.match(await sharp(await reference(stored, small)).metadata(), { width: 256, height: 512 });
  await t.rejects(reference(Buffer.from('nothing'), whole), /unsupported/);
});

t.test('groups images of a collection by the kind of difference', async (t) => {
  const svg = { ...about, request: 'whole', features: ['text'] };
  const other = await good(picture.clone().linear(1, 40));
  const verdicts = await Promise.all([
    judge({ ...svg, file: 'a/x/1.svg' }, other, expected, limits),
    judge({ ...svg, file: 'a/2.svg' }, other, expected, limits),
    judge({ ...svg, file: 'b/3.svg' }, other, expected, limits),
    judge({ ...svg, file: 'a/4.svg', features: [] }, other, expected, limits),
    judge({ ...about, file: 'a/5.png' }, bad(415, '415 x, at byte 12'), expected, limits),
    judge({ ...about, file: 'a/6.png' }, bad(415, '415 x, at byte 7'), expected, limits),
    judge({ ...about, file: 'a/7.png' }, expected, expected, limits),
  ]);
  const found = groupVerdicts(verdicts).map(({ collection, kind, verdicts }) => [
    verdicts.length,
    collection,
    kind,
  ]);
  t.same(found, [
    [2, 'a', 'svg, whole, to sharp, pixels, text'],
    [2, 'a', 'png, whole, to sharp, service: 415 x, at byte n'],
    [1, 'b', 'svg, whole, to sharp, pixels, text'],
    [1, 'a', 'svg, whole, to sharp, pixels'],
  ]);
  t.match(summary(verdicts, 1), /2 in a: svg, .*\n {4}a\/x\/1\.svg: pixels.*\n {4}… and 1 more/);
});
