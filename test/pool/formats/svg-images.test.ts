import sharp from 'sharp';
import t from 'tap';
import { svg as svgOf } from '../../hostile/inputs/svgs.ts';
import { drawn, plain } from '../rendering/drawn.ts';
import { near, red } from '../rendering/pictures.ts';

const svg = (inner: string) => Buffer.from(svgOf(inner, 'width="100" height="50"'));

t.test('rasterises embedded images in formats that librsvg does not draw', async (t) => {
  const png = await plain(9, 9, red);
  const escaped = (url: string) => url.replace(/.{20}/g, '$&&#xA;').replace('base64', '&#98;ase64');
  for (const format of ['gif', 'webp', 'avif', 'tiff'] as const) {
    const base64 = (await sharp(png).toFormat(format).toBuffer()).toString('base64');
    const url = `data:image/${format};base64,${base64}`;
    const attributes = [
      `href="${url}" width="100" height="50"`,
      `xlink:href = '${url.replace(/[^,]{20}(?!.*,)/g, '$&\n')}' width="100"`,
      `path="${escaped(url)}" height="50"`,
      `data-x="\u{1f600}" href="${url}" xlink:href="${url}"${' '.repeat(200)}width="100"`,
      `href${' '.repeat(200)}= "${url}" height="50"`,
    ];
    for (const attribute of attributes) {
      const images = `<image ${attribute} preserveAspectRatio="none"/>`.repeat(2);
      const { at } = await drawn(svg(images));
      t.ok(near(at(25, 25), red, 3), `${format}: ${attribute.slice(0, 12)}`);
    }
  }
  const large = sharp({ create: { width: 1200, height: 900, channels: 3, background: 'red' } });
  const webp = (await large.webp().toBuffer()).toString('base64');
  const image = `<image href="data:image/webp;base64,${webp}" width="100"/>`;
  const { at } = await drawn(svg(image));
  t.ok(near(at(50, 25), red, 3), 'a large one');
});

t.test('rasterises drawings in a drawing, with their images', async (t) => {
  const gif = (
    await sharp(await plain(9, 9, red))
      .gif()
      .toBuffer()
  ).toString('base64');
  const image = `<image href="data:image/gif;base64,${gif}" width="20" height="10" preserveAspectRatio="none"/>`;
  const inner = svgOf(`${image}<text>\u{1f600}</text>`, 'width="20" height="10"');
  const base64 = Buffer.from(inner).toString('base64');
  const escaped = encodeURIComponent(inner).replaceAll("'", '%27');
  const urls = [
    `data:image/svg+xml;base64,${base64}`,
    `data:image/svg+xml,${escaped}`,
    `data:image/svg+xml;utf8,${inner.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')}`,
  ];
  for (const url of urls) {
    const { at } = await drawn(svg(`<image href="${url}" width="80"/>`));
    t.ok(near(at(78, 38), red, 3) && at(78, 42)[3] === 0 && at(82, 38)[3] === 0, url.slice(0, 25));
  }
});

t.test('derives a missing side of an embedded image from its aspect ratio', async (t) => {
  const url = `data:image/png;base64,${(await plain(20, 10, red)).toString('base64')}`;
  const cases: readonly (readonly [string, number, number])[] = [
    ['width="60"', 60, 30],
    ['height="20px"', 40, 20],
    ['width="0.5in"/><image x="200" width="8"', 48, 24],
    ['', 20, 10],
    ['width="60" style="height:9px" preserveAspectRatio="none"', 60, 9],
    ['width="60" height="9" preserveAspectRatio="none"', 60, 9],
  ];
  for (const [attributes, width, height] of cases) {
    for (const end of ['/>', '></image>']) {
      const image = `<image href="${url}" ${attributes}${end}`;
      const { at } = await drawn(svg(image));
      const inside = [at(width - 2, 1), at(1, height - 2)];
      const outside = [at(width + 1, 1), at(1, height + 1)];
      t.ok(
        inside.every((pixel) => near(pixel, red)) && outside.every(([, , , a]) => a === 0),
        attributes,
      );
    }
  }
});

t.test('accepts an embedded image above 10 MB', async (t) => {
  const large = sharp({ create: { width: 1650, height: 1650, channels: 3, background: 'red' } });
  const png = await large.png({ compressionLevel: 0 }).toBuffer();
  const image = `<image href="data:image/png;base64,${png.toString('base64')}" width="100"/>`;
  const { at } = await drawn(svg(image));
  t.ok(near(at(50, 25), red));
});
