import t from 'tap';
import { stopTimers } from '../../clock.ts';
import { until } from '../../until.ts';
import { openPool, patient, settings } from '../execution/pools.ts';
import { allNear, corners, described, drawn, renderedIfLight } from '../rendering/drawn.ts';
import { blue, green, near, red, shared, variant, yellow } from '../rendering/pictures.ts';

interface Page {
  /** Page box in points. */
  readonly box: readonly [number, number, number, number];
  readonly content: string;
  /** Additional page entries. */
  readonly more?: string;
}

/** Returns a PDF 1.7 with a cross-reference table (ISO 32000-1, 7.5). */
function pdf(pages: readonly Page[], trailer = ''): Buffer {
  const kids = pages.map((_, index) => `${3 + 2 * index} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    ...pages.flatMap(({ box, content, more = '' }, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [${box.join(' ')}] /Contents ${4 + 2 * index} 0 R ${more} >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
  ];
  let file = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const at = file.length;
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.from(file, 'latin1');
}

/** Draws red, green, blue and yellow quarters. The origin is the lower left corner. */
const quarters = (w: number, h: number) =>
  `1 0 0 rg 0 ${h / 2} ${w / 2} ${h / 2} re f 0 1 0 rg ${w / 2} ${h / 2} ${w / 2} ${h / 2} re f ` +
  `0 0 1 rg 0 0 ${w / 2} ${h / 2} re f 1 1 0 rg ${w / 2} 0 ${w / 2} ${h / 2} re f`;
const colours = [red, green, blue, yellow];
const first: Page = { box: [0, 0, 150, 90], content: quarters(150, 90) };
const second: Page = { box: [0, 0, 72, 144], content: '0 0 1 rg 12 12 30 30 re f' };
const two = pdf([first, second]);

t.test('draws the first page, at 96 pixels per inch or the requested size', async (t) => {
  for (const [options, size] of [
    [{}, [200, 120]],
    [{ width: 50 }, [50, 30]],
    [{ width: 1000 }, [1000, 600]],
    [{ rotate: 90 }, [120, 200]],
  ] as const) {
    const image = await drawn(two, options);
    t.same(image.size, size);
    const expected = 'rotate' in options ? [blue, red, yellow, green] : colours;
    t.ok(allNear(corners(image), expected, 3), `${corners(image)}`);
  }
  const part = await drawn(two, {
    crop: { left: 100, top: 0, width: 100, height: 60 },
    width: 400,
  });
  t.same(part.size, [400, 240]);
  t.ok(near(part.at(5, 5), green, 3));
});

t.test('draws another page on request, on white', async (t) => {
  const image = await drawn(two, { page: 1 });
  t.same(image.size, [96, 192]);
  t.same(image.at(1, 1), [255, 255, 255, 255]);
  t.ok(near(image.at(30, 160), blue, 3));
  await t.rejects(drawn(two, { page: 2 }), {
    code: 'parameter_invalid',
    message: 'page is 2, but the source has 2 pages, 0 to 1.',
  });
  const { source } = await described(two, { page: 1 });
  t.match(source, { format: 'pdf', pages: 2, width: 96, height: 192, hasAlpha: false });
  const trimmed = await drawn(two, { page: 1, trim: 10 });
  t.same(trimmed.size, [40, 40], 'without its borders');
});

t.test('draws a rotated page upright', async (t) => {
  const image = await drawn(pdf([{ ...first, more: '/Rotate 90' }]));
  t.same(image.size, [120, 200]);
  t.ok(allNear(corners(image), [blue, red, yellow, green], 3));
});

t.test('rejects encrypted, damaged and hostile PDFs', async (t) => {
  const key = '0'.repeat(64);
  const encryption = `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >> /ID [<00> <00>]`;
  await t.rejects(drawn(pdf([first], encryption)), {
    code: 'source_unsupported',
    message: /encrypted/,
  });
  for (const damaged of [two.subarray(0, 40), Buffer.from('%PDF-1.7'), pdf([])]) {
    await t.rejects(drawn(damaged), { code: 'source_corrupt' });
  }
  await t.rejects(drawn(pdf([{ ...first, box: [0, 0, 10_000_000, 1] }])), {
    code: 'source_too_large',
  });
  const content = '0 0 m 9 9 l S '.repeat(200_001);
  await t.rejects(drawn(pdf([{ ...first, content }])), {
    code: 'source_too_large',
    message: /200001 objects/,
  });
});

t.test('draws a PDF in a process, and ends it at the timeout', async (t) => {
  t.match(await renderedIfLight(two), { isolated: true });
  const pass = stopTimers(t);
  const pool = openPool(t);
  const draw = (source: Buffer, width: number) =>
    pool.transform(shared(source), variant({ width }), patient);
  t.match(await draw(two, 90), { width: 90 });
  const content = '0 0 m 150 90 l 0 90 l 150 0 l 75 90 l B* '.repeat(150_000);
  const slow = t.rejects(draw(pdf([{ ...first, content }]), 5000), { code: 'transform_timeout' });
  await until('it is drawn', () => pool.stats().costlyBytes > 0);
  pass(settings.transformTimeoutMs);
  await slow;
});
