import sharp from 'sharp';
import t from 'tap';
import { findFormat } from './inputs/formats.ts';
import { mutant } from './inputs/mutations.ts';
import { findLists, written } from './inputs/part-tree.ts';
import { pictures } from './inputs/pictures.ts';

const originals = await pictures();
const pixels = (bytes: Buffer) => sharp(bytes, { animated: true }).raw().toBuffer();

t.test("preserves an image when it rewrites the image's parts", async (t) => {
  for (const [kind, bytes] of originals) {
    const format = findFormat(kind);
    const parts = format.read(bytes);
    const again = written(format, parts, true);
    if (/bmp|ico/.test(kind)) {
      t.same(again, bytes, kind);
      continue;
    }
    t.same(await pixels(again), await pixels(bytes), kind);
    const found = findLists({ format, parts }).length;
    t.ok(
      found >= 2 || kind.endsWith('webp') || kind === 'tiff',
      `${kind}: ${found} lists of parts`,
    );
    const [before, after] = [await sharp(bytes).metadata(), await sharp(again).metadata()];
    for (const name of ['exif', 'icc', 'xmp', 'iptc'] as const) {
      t.equal(after[name] === undefined, before[name] === undefined, `${kind}: ${name}`);
    }
  }
});

t.test('determines the input by a seed and a number', async (t) => {
  for (let number = 0; number < 60; number++) {
    t.same(mutant(originals, 7, number), mutant(originals, 7, number));
  }
});
