/**
 * Makes the JPEG XLs of this folder, which tests read: node make.mjs
 *
 * Needs cjxl of libjxl 0.7 (Debian's libjxl-tools). The pictures are our own: quarters of red, green, blue and
 * yellow, or what their name says. `large` is grey and has 36 megapixels; wasm-vips makes it.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import Vips from 'wasm-vips';

const folder = mkdtempSync(join(tmpdir(), 'jxl-'));
const colours = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 0],
];
const quarters = (width, height, quarter = (index) => colours[index]) => {
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)];
    data.set(quarter((y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)), 3 * at);
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
};
const make = (name, file, ...options) =>
  execFileSync('cjxl', [file, join(import.meta.dirname, `${name}.jxl`), '--quiet', ...options]);
const png = join(folder, 'quarters.png');
const jpeg = join(folder, 'quarters.jpg');
const gif = join(folder, 'two.gif');

try {
  await quarters(40, 30).png().toFile(png);
  await quarters(40, 30)
    .withExif({ IFD0: { Copyright: 'The owner', Artist: 'The author' } })
    .withMetadata({ orientation: 6 })
    .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
    .toFile(jpeg);
  const frames = [0, 1].flatMap((first) =>
    Array(40 * 30)
      .fill(colours[first])
      .flat(),
  );
  await sharp(Buffer.from(frames), { raw: { width: 40, height: 60, channels: 3, pageHeight: 30 } })
    .gif({ delay: [100, 200] })
    .toFile(gif);
  make('quarters', png);
  // With the data from which the JPEG can be restored.
  make('from-jpeg', jpeg, '--lossless_jpeg=1');
  make('turned', jpeg, '--lossless_jpeg=0', '--distance=0.5');
  make('pq', png, '-x', 'color_space=RGB_D65_202_Rel_PeQ', '--distance=0.5');
  make('p3', png, '-x', 'color_space=RGB_D65_DCI_Rel_SRG', '--distance=0');
  make('two', gif);
  await quarters(40, 30).ensureAlpha(0.5).png().toFile(png);
  make('alpha', png, '--distance=0');
  await quarters(40, 30).toColourspace('b-w').png().toFile(png);
  make('grey', png);
  await quarters(40, 30).toColourspace('rgb16').png().toFile(png);
  make('deep', png, '--distance=0');
} finally {
  rmSync(folder, { recursive: true });
}

const vips = await Vips({ dynamicLibraries: ['vips-jxl.wasm'] });
const band = vips.Image.black(6_000, 6_000).linear([1], [120]).cast('uchar');
const flat = band.bandjoin([band, band]).copy({ interpretation: 'srgb' });
const large = flat.jxlsaveBuffer({ distance: 25, effort: 3 });
writeFileSync(join(import.meta.dirname, 'large.jxl'), large);
vips.shutdown();
