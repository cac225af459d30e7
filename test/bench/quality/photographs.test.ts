import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import t, { type Test } from 'tap';
import { openMeter } from '../../../bench/encoders/meter.ts';
import { readPhotographs } from '../../../bench/encoders/sources.ts';
import { openPhotographs } from '../../../bench/scenarios/quality/photographs.ts';
import { score } from '../../../bench/scenarios/quality/scores.ts';
import type { DefaultServer } from '../../../bench/servers/server.ts';
import { listen } from '../../listen.ts';
import { noise } from '../../pool/rendering/pictures.ts';
import { temporaryFolder } from '../../temporary-root.ts';

const width = 64;

async function folderOf(t: Test, files: Readonly<Record<string, Buffer>>): Promise<string> {
  const folder = await temporaryFolder(t);
  for (const [name, body] of Object.entries(files)) await writeFile(join(folder, name), body);
  return folder;
}

t.test('undecodable files are reported and skipped', async (t) => {
  const whole = await noise(300, 200).jpeg().toBuffer();
  const cut = whole.subarray(0, whole.length / 2);
  const folder = await folderOf(t, {
    'whole.jpg': whole,
    'cut.jpg': cut,
    'notes.txt': whole,
    'none.png': Buffer.from('no picture'),
  });
  await mkdir(join(folder, 'folder.jpg'));
  const lines: string[] = [];
  const read = await readPhotographs(folder, (line) => lines.push(line));
  t.same([...read.keys()], ['whole.jpg']);
  t.same(lines.map((line) => line.split(' ')[0]).sort(), ['cut.jpg', 'folder.jpg', 'none.png']);
  t.match(lines.join('\n'), /none\.png is left out, .*unsupported image format/);
  const none = await folderOf(t, { 'cut.jpg': cut });
  await t.rejects(
    readPhotographs(none, () => {}),
    /has no photographs that can be read/,
  );
});

t.test('photographs are served upright, with references in the size of an image', async (t) => {
  const rotated = await noise(300, 200).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const plain = await noise(100, 90).png().toBuffer();
  const folder = await folderOf(t, {
    'a.jpg': rotated,
    'b.png': plain,
    'c.webp': await noise(100, 90).webp().toBuffer(),
    'd.png': await noise(50, 90).png().toBuffer(),
  });
  const lines: string[] = [];
  const options = { width, most: Number.POSITIVE_INFINITY };
  const found = await openPhotographs(folder, options, (line) => lines.push(line));
  t.teardown(() => found.close());
  t.same(found.names, ['a.jpg', 'b.png']);
  t.match(lines, [/c\.webp .* neither JPEG nor PNG/, /d\.png .* less than 64 px/]);
  const fetched = async (number: number) => {
    const response = await fetch(found.url.replace('{n}', String(number)));
    return Buffer.from(await response.arrayBuffer());
  };
  const { width: w, height: h, orientation = 1 } = await sharp(await fetched(0)).metadata();
  t.same([w, h, orientation], [200, 300, 1], 'upright');
  t.ok((await fetched(1)).equals(plain), 'unchanged');
  t.ok((await fetched(7)).equals(plain), 'numbers take turns');
  t.match(await found.reference(0, width, 97), { width, height: 97 });
  t.equal(found.reference(0, width, 97), found.reference(0, width, 97));
});

t.test('a server is scored at its default and at qualities around a score', async (t) => {
  const folder = await folderOf(t, { 'a.png': await noise(128, 96).blur(2).png().toBuffer() });
  const photographs = await openPhotographs(folder, { width, most: 1 }, (line) => t.fail(line));
  t.teardown(() => photographs.close());
  const requested: string[] = [];
  const origin = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
    const quality = Number(searchParams.get('q') ?? 55);
    requested.push(searchParams.get('q') ?? 'default');
    const source = await (await fetch(searchParams.get('url') ?? '')).arrayBuffer();
    const image = sharp(source).resize(pathname === '/small' ? 32 : width);
    response.end(await image.jpeg({ quality }).toBuffer());
  });
  const url = `http://127.0.0.1:${await listen(t, origin)}`;
  const at = (path: string, acceptsQuality = true): DefaultServer => ({
    name: 'other',
    url,
    pid: null,
    healthyMs: null,
    acceptsQuality,
    close: async () => {},
    imageUrl: ({ source }, quality) =>
      `${url}${path}?url=${encodeURIComponent(source).replaceAll('%7Bn%7D', '{n}')}${quality === null ? '' : `&q=${quality}`}`,
  });
  const meter = await openMeter(null);
  const options = { photographs, meter, width, format: 'jpeg', quick: true, first: 5 } as const;
  const { byDefault, curve, extra } = await score(options, at('/'), 0, 0);
  t.same(requested.splice(0), ['default', '68', '90', '35'], 'one lower quality');
  t.match([...curve, ...extra], [{ quality: 68 }, { quality: 90 }, { quality: 35 }]);
  const [middle, high] = curve;
  t.ok((high?.score ?? 0) > (middle?.score ?? 1) && (high?.score ?? 2) <= 1, 'better, and below 1');
  t.ok(byDefault.score < (middle?.score ?? 0) && byDefault.bytes < (middle?.bytes ?? 0));
  await score(options, at('/', false), 0, 0.9);
  t.same(requested.splice(0), ['default']);
  await t.rejects(score(options, at('/small'), 0, null), /other: a\.png as jpeg: .* 32 px/);
  const avif = { ...options, format: 'avif' } as const;
  await t.rejects(score(avif, at('/'), 0, null), /answers with jpeg/);
});
