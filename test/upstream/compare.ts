import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import type { Test } from 'tap';
import type { DialectName } from '../../urls/src/index.ts';
import { rootPath } from '../root.ts';
import { startFrontEnd } from '../service/front-end.ts';
import { until } from '../until.ts';

/** A URL of another service, and a URL of the same image as PNG. */
export interface ComparedUrl {
  readonly path: string;
  readonly asPng: string;
  /** The largest mean difference of a channel, of 255, if it is not 3. */
  readonly maxError?: number;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Buffer;
}

async function ask(base: string, path: string, host: string): Promise<Answer> {
  const sent = request(base + path, { headers: { host } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat(await response.toArray());
  const { statusCode: status = 0, headers } = response;
  return { status, type: headers['content-type'] ?? '', body };
}

export async function readSize({ status, type, body }: Answer): Promise<string> {
  if (status !== 200) return `${status} ${body.toString().slice(0, 200)}`;
  const { width, height } = await sharp(body).metadata();
  return `${type} ${width} × ${height}`;
}

/**
 * Returns the mean channel difference, of 255, in the common part. Transparent pixels count as
 * white.
 */
export async function difference(first: Answer, second: Answer): Promise<number> {
  const sizes = await Promise.all([first, second].map(({ body }) => sharp(body).metadata()));
  const [width, height] = (['width', 'height'] as const).map((side) =>
    Math.min(...sizes.map((size) => size[side])),
  ) as [number, number];
  const [a, b] = (await Promise.all(
    [first, second].map(({ body }) =>
      sharp(body)
        .extract({ left: 0, top: 0, width, height })
        .flatten({ background: 'white' })
        .toColourspace('srgb')
        .raw()
        .toBuffer(),
    ),
  )) as [Buffer, Buffer];
  let sum = Math.abs(a.length - b.length) * 255;
  for (const [index, value] of a.entries()) sum += Math.abs(value - (b[index] ?? 0));
  return sum / a.length;
}

/** Sizes that differ by a pixel at most. */
export function isNear(first: string, second: string): boolean {
  const [a, b] = [first, second].map((text) => text.split(/ (?:× )?/));
  return (a ?? []).every((part, index) =>
    /^\d+$/.test(part) ? Math.abs(Number(part) - Number(b?.[index])) <= 1 : part === b?.[index],
  );
}

/** Draws an SVG, before a front end in this process makes that impossible. */
const drawn = (svg: string) => sharp(Buffer.from(svg)).png().toBuffer();

/** A transparent square with a mark. */
const logo = await drawn(
  '<svg width="600" height="600"><circle cx="300" cy="300" r="280" fill="#0a84ff" fill-opacity="0.8"/>' +
    '<rect x="200" y="200" width="200" height="200" fill="white"/></svg>',
);
const disc = await drawn('<svg width="800" height="500"><circle cx="400" cy="250" r="200"/></svg>');

/**
 * Starts an origin with images, and a delivery host that reads another service's URLs.
 * @param theirUrl URL of the other service, with no trailing slash
 */
export async function startBoth(t: Test, kind: DialectName, theirUrl: string) {
  const { url, origin, store, createProject } = await startFrontEnd(t);
  const photo = sharp(await readFile(join(rootPath, 'demo/origin/pictures/coast.jpg')));
  const large = await photo.resize(1600, 1000, { fit: 'cover' }).toBuffer();
  const frame = { top: 40, bottom: 60, left: 80, right: 100 };
  origin.serve('/photo.jpg', await sharp(large).jpeg({ quality: 95 }).toBuffer());
  const portrait = photo.clone().resize(1000, 1500, { fit: 'cover' });
  origin.serve('/portrait.jpg', await portrait.jpeg({ quality: 95 }).toBuffer());
  origin.serve('/logo.png', logo);
  origin.serve('/small.png', await sharp(large).resize(400, 250).png().toBuffer());
  origin.serve(
    '/turned.jpg',
    await sharp(large).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer(),
  );
  origin.serve(
    '/frame.png',
    await sharp(large)
      .extend({ ...frame, background: '#20c040' })
      .png()
      .toBuffer(),
  );
  origin.serve(
    '/clear.png',
    await sharp(large)
      .ensureAlpha()
      .composite([{ input: disc, blend: 'dest-out' }])
      .png()
      .toBuffer(),
  );
  const id = await createProject('127.0.0.1');
  await store.projects.updateSettings(id, { autoFormat: false });
  const host = `${kind}.shop.example`;
  await store.projects.hostClaims.claim(host, id);
  const fields = { host, base: null, urls: kind, updatedAt: new Date() };
  await store.projects.setItem(id, 'hosts', host, fields);
  const here = (path: string) => ask(url, path, host);
  await until('the host is known', async () => (await here('/x/y')).status !== 404);
  return {
    origin,
    here,
    there: (path: string) => ask(theirUrl, path, new URL(theirUrl).host),
    setItem: (field: 'presets' | 'layers', name: string, value: object) =>
      store.projects.setItem(id, field, name, value),
  };
}

/**
 * Compares sizes, types and pixels between a delivery host's images and the other service's images.
 * @param toUrls builds the URLs of images below an origin's URL
 */
export async function compareImages(
  t: Test,
  kind: DialectName,
  theirUrl: string,
  toUrls: (originUrl: string) => readonly ComparedUrl[],
): Promise<void> {
  const { origin, here, there } = await startBoth(t, kind, theirUrl);
  const urls = toUrls(origin.url);
  let [sizes, largest, sum] = [0, 0, 0];
  const lines: string[] = [];
  for (const { path, asPng, maxError = 3 } of urls) {
    const [ours, theirs] = await Promise.all([here(path), there(path)]);
    const [our, their] = [await readSize(ours), await readSize(theirs)];
    const isEqual = isNear(our, their);
    t.ok(isEqual, `${path}: ${our}, ${kind} ${their}`);
    if (isEqual) sizes += 1;
    const pictures = await Promise.all([here(asPng), there(asPng)]);
    const isPicture = pictures.every(({ status }) => status === 200);
    const error = isPicture ? await difference(...pictures) : 255;
    t.ok(error < maxError, `${asPng}: a mean error of ${error.toFixed(2)}`);
    lines.push(`${error.toFixed(2)} ${path}: ${our}; ${their}`);
    largest = Math.max(largest, error);
    sum += error;
  }
  t.comment(lines.join('\n'));
  t.comment(
    `${sizes} of ${urls.length} have the size and the type; the mean error is ${(sum / urls.length).toFixed(2)}, at most ${largest.toFixed(2)}`,
  );
}
