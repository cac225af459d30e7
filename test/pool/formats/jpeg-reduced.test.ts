import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Sharp } from 'sharp';
import t from 'tap';
import { drawn, rendered } from '../rendering/drawn.ts';
import { noise } from '../rendering/pictures.ts';

const isLinux = process.platform === 'linux';
const folder = t.testdir();

const rgb = (image: Sharp) => image.removeAlpha().raw().toBuffer();

/**
 * Scales a JPEG to a width. libvips divides its sides first; sharp decides if there is no divisor.
 */
async function scaled(source: Buffer, divisor: number | null, width: number): Promise<Buffer> {
  const file = join(folder, 'source.jpg');
  await writeFile(file, source);
  const input = divisor === null ? file : `${file}[shrink=${divisor}]`;
  return rgb(sharp(input).resize(width));
}

t.test('decodes a half at ratios from 2 to 3, and a quarter from 4 to 5', async (t) => {
  const cases = [
    { side: 199, width: 100, divisor: null },
    { side: 200, width: 100, divisor: 2 },
    { side: 241, width: 100, divisor: 2 },
    { side: 299, width: 100, divisor: 2 },
    { side: 300, width: 100, divisor: null },
    { side: 400, width: 100, divisor: 4 },
    { side: 402, width: 100, divisor: 4 },
    { side: 403, width: 100, divisor: null },
    { side: 480, width: 100, divisor: 4 },
    { side: 500, width: 100, divisor: null },
    { side: 800, width: 100, divisor: null },
  ];
  for (const { side, width, divisor } of cases) {
    const source = await noise(side, side).jpeg().toBuffer();
    const { body } = await drawn(source, { width });
    const expected = await scaled(source, isLinux ? divisor : null, width);
    t.ok((await rgb(sharp(body))).equals(expected), `${side} to ${width}`);
  }
});

/**
 * Returns grey columns. All are black except the last 128; each of these is 2 levels lighter than
 * its neighbour.
 */
function ramp(side: number) {
  const row = Buffer.from(Array.from({ length: side }, (_, x) => 2 * Math.max(0, x - side + 128)));
  const raw = { width: side, height: side, channels: 1 } as const;
  return sharp(Buffer.concat(Array.from({ length: side }, () => row)), { raw });
}

t.test('moves each edge by at most 0.6 pixels, whatever remains of a side', async (t) => {
  for (let remainder = 0; remainder < 8; remainder += 1) {
    const side = 1024 + remainder;
    const source = await ramp(side).jpeg({ quality: 100 }).toBuffer();
    for (const ratio of [1.3, 2, 2.4, 3, 4, 4.6, 5, 8, 9, 12, 16]) {
      const width = Math.floor(side / ratio);
      const { body } = await rendered(source, { width, height: width, fit: 'fill' });
      const { data, info } = await sharp(body)
        .grayscale()
        .raw()
        .toBuffer({ resolveWithObject: true });
      const shifts: number[] = [];
      for (let x = 0; x < width; x += 1) {
        const position = ((x + 0.5) * side) / width;
        // Away from the ends of the ramp, which the kernel softens.
        if (position < side - 96 || position > side - 32) continue;
        const level = data[(info.height >> 1) * info.width + x] ?? 0;
        shifts.push(((level / 2 + side - 127.5 - position) * width) / side);
      }
      const shift = Math.abs(shifts.reduce((sum, edgeShift) => sum + edgeShift, 0) / shifts.length);
      t.ok(shift <= 0.6, `${side} at ${ratio}: ${shift.toFixed(2)}`);
    }
  }
});

t.test('leaves no descriptor open', { skip: !isLinux }, async (t) => {
  const source = await noise(200, 200).jpeg().toBuffer();
  // A comment instead of the quantisation tables, without which libjpeg does not decode.
  const broken = Buffer.from(
    source.toString('latin1').replaceAll('\xff\xdb', '\xff\xfe'),
    'latin1',
  );
  const open = async () => (await readdir('/proc/self/fd')).length;
  await rendered(source, { width: 100 });
  const before = await open();
  for (let index = 0; index < 10; index += 1) {
    await rendered(source, { width: 100 });
    await t.rejects(rendered(broken, { width: 100 }), { code: 'source_corrupt' });
  }
  t.equal(await open(), before);
});

t.test('decodes all pixels if the memory for files is full', { skip: !isLinux }, async (t) => {
  const script = `
    import { rendered } from './test/pool/rendering/drawn.ts';
    import { noise } from './test/pool/rendering/pictures.ts';
    const source = await noise(200, 200).jpeg().toBuffer();
    const { body } = await rendered(source, { width: 100 });
    process.stdout.write(source.toString('hex') + ' ' + Buffer.from(body).toString('hex'));`;
  const command = `ulimit -f 1; exec "$0" --import=tsx --input-type=module --eval "$1"`;
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, script]);
  const [source = '', body = ''] = stdout.split(' ');
  const expected = await scaled(Buffer.from(source, 'hex'), null, 100);
  t.ok((await rgb(sharp(Buffer.from(body, 'hex')))).equals(expected));
});
