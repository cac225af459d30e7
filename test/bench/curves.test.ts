import t from 'tap';
import { measureCurve, pointAt, readPhotograph } from '../../bench/encoders/curves.ts';
import { openMeter } from '../../bench/encoders/meter.ts';
import { picture } from '../../demo/origin/pictures.ts';

t.test("interpolates an encoder's curves at a score", async (t) => {
  const photograph = await readPhotograph(await picture('coast.jpg'), 64);
  if (photograph === null) throw new Error('no photograph');
  t.match(photograph, { width: 64, height: 43 });
  t.equal(await readPhotograph(await picture('coast.jpg'), 5_000), null, 'too small');
  const meter = await openMeter(undefined);
  const curve = await measureCurve(
    (image, quality) => image.jpeg({ quality }).toBuffer(),
    [90, 40],
    [photograph],
    meter,
  );
  const [high, low] = curve;
  if (high === undefined || low === undefined) throw new Error('no points');
  t.ok(high.score > low.score && high.score <= 1 && high.bytes > low.bytes && low.ms > 0);
  const between = pointAt(curve, (high.score + low.score) / 2);
  t.equal(between?.quality, 65);
  const bytes = Math.sqrt(high.bytes * low.bytes);
  t.ok(Math.abs((between?.bytes ?? 0) - bytes) < 1e-6 * bytes);
  t.same([pointAt(curve, 1.1), pointAt(curve, -1), pointAt([], 1)], [null, null, null]);
});
