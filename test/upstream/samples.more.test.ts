import t, { type Test } from 'tap';
import type { DialectName } from '../../urls/src/index.ts';
import type { Sample } from '../samples/sample.ts';
import { maxRefused, samples } from '../samples/samples.ts';
import { difference, isNear, readSize, startBoth } from './compare.ts';

/**
 * Compares the sampled URLs with an imgproxy 4 and a thumbor 7, which run as
 * `imgproxy.more.test.ts` and `thumbor.more.test.ts` describe.
 */
const services = {
  imgproxy: process.env['IMGPROXY_URL'] ?? '',
  thumbor: process.env['THUMBOR_URL'] ?? '',
} as const satisfies Partial<Record<DialectName, string>>;

/** Options that only change the encoding, in imgproxy's paths and thumbor's filters. */
const encoding = {
  imgproxy: /\/(?:f|fq|q|mb|fmt|sm):[^/]*(?=\/)/g,
  thumbor: /(?:quality|format|max_bytes|autojpg)\([^)]*\):?/g,
};

/** Returns the URL of the same image as PNG. */
function toPng(kind: keyof typeof services, { url }: Sample): string {
  const lossless = url.replaceAll(encoding[kind], '');
  if (kind === 'imgproxy') return `${lossless}@png`;
  const [, before = '', filters = '', source = ''] =
    /^(.*?\/)(?:filters:(.*?\)?):?\/)?(https?:.*)$/.exec(lossless) ?? [];
  const calls = [filters, 'format(png)'].filter((text) => text !== '').join(':');
  return `${before}filters:${calls}/${source}`;
}

/** A line of the table: what happened to a template's URLs. */
interface Line {
  readonly template: string;
  delivered: number;
  sizes: number;
  sized: number;
  compared: number;
  errors: number;
  largest: number;
}

async function compare(t: Test, kind: keyof typeof services): Promise<void> {
  const { origin, here, there, setItem } = await startBoth(t, kind, services[kind]);
  await setItem('presets', 'card', { w: 200, h: 150 });
  await setItem('layers', 'watermark', { image: { url: `${origin.url}/logo.png` } });
  const lines = new Map<string, Line>();
  for (const sample of samples[kind]?.(origin.url) ?? []) {
    const fresh = { delivered: 0, sizes: 0, sized: 0, compared: 0, errors: 0, largest: 0 };
    const line = lines.get(sample.template) ?? { template: sample.template, ...fresh };
    lines.set(sample.template, line);
    const png = toPng(kind, sample);
    const [ours, theirs, ourPng, theirPng] = await Promise.all([
      here(sample.url),
      there(sample.url),
      here(png),
      there(png),
    ]);
    if (ours.status === 200) line.delivered += 1;
    // imgproxy Pro's options, and filters that thumbor does not have.
    const isImage = ({ status, type }: typeof ours) => status === 200 && type.startsWith('image/');
    if (![ours, theirs, ourPng, theirPng].every(isImage)) {
      t.comment(`${png}: ${theirPng.status} ${theirPng.type}, ${ourPng.status} ${ourPng.type}`);
      continue;
    }
    const [our, their] = [await readSize(ours), await readSize(theirs)];
    line.sized += 1;
    if (isNear(our, their)) line.sizes += 1;
    else t.comment(`${sample.url}: ${our}, ${kind} ${their}`);
    // Without detectors, thumbor keeps the middle.
    if (kind === 'thumbor' && sample.url.includes('/smart/')) continue;
    const error = await difference(ourPng, theirPng);
    line.compared += 1;
    line.errors += error;
    line.largest = Math.max(line.largest, error);
  }
  const all = [...lines.values()];
  const sum = (name: 'delivered' | 'sizes' | 'sized' | 'compared' | 'errors') =>
    all.reduce((total, line) => total + line[name], 0);
  for (const { template, delivered, sizes, sized, compared, errors, largest } of all) {
    const mean = compared === 0 ? '–' : (errors / compared).toFixed(2);
    t.comment(
      `| \`${template}\` | ${delivered} | ${sizes} of ${sized} | ${mean} | ${largest.toFixed(2)} |`,
    );
  }
  const mean = sum('errors') / sum('compared');
  t.comment(
    `${kind}: ${sum('delivered')} delivered, ${sum('sizes')} of ${sum('sized')} sizes, mean error ${mean.toFixed(2)}`,
  );
  t.ok(sum('delivered') >= 400 - (maxRefused[kind] ?? 0), 'delivers them');
  t.equal(sum('sizes'), sum('sized'), 'equal sizes');
  t.ok(mean <= 3, `a mean error of ${mean.toFixed(2)}`);
}

t.setTimeout(1_800_000);

for (const kind of ['imgproxy', 'thumbor'] as const) {
  const skip = services[kind] === '' && `${kind.toUpperCase()}_URL is not set`;
  t.test(`matches ${kind} for the sampled URLs`, { skip, timeout: 1_800_000 }, (t) =>
    compare(t, kind),
  );
}
