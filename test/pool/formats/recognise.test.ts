import t from 'tap';
import { noise } from '../rendering/pictures.ts';
import { recognised } from './named.ts';

t.test('detects supported formats', async (t) => {
  for (const format of ['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff'] as const) {
    t.equal(recognised(await noise(8, 8).toFormat(format).toBuffer()), format);
  }
  t.equal(recognised(await noise(8, 8).tiff({ bigtiff: true }).toBuffer()), 'tiff', 'BigTIFF');
  const ftyp = (...brands: string[]) =>
    Buffer.concat([
      Buffer.from([0, 0, 0, 12 + 4 * brands.length]),
      Buffer.from(`ftyp${brands[0]}\0\0\0\0${brands.slice(1).join('')}`),
      Buffer.alloc(40),
    ]);
  t.equal(recognised(Buffer.from('%PDF-1.7')), 'pdf');
  t.equal(recognised(ftyp('heic', 'mif1')), 'heif');
  t.equal(recognised(ftyp('mif1', 'miaf', 'avif')), 'avif', 'by a compatible brand');
  t.equal(recognised(ftyp('heix', 'avif')), 'heif', 'by the major brand');
  t.equal(recognised(ftyp('isom', 'mp42')), null, 'a video');
  t.equal(recognised(ftyp('mp42')), null);
});

t.test('detects an SVG by its root element', async (t) => {
  const rows: readonly [string, 'svg' | null][] = [
    ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'svg'],
    ['\ufeff\n <?xml version="1.0" encoding="utf-8"?>\n<!-- <html> -->\n<svg>', 'svg'],
    ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://example.com/svg11.dtd"><svg>', 'svg'],
    ['<?xml version="1.0" encoding="ISO-8859-1"?><svg/>', 'svg'],
    ['<?xml version="1.0" encoding="UTF-16"?><svg/>', 'svg'],
    ['<svg:svg xmlns:svg="http://www.w3.org/2000/svg"/>', 'svg'],
    ['<!DOCTYPE ns0:svg [ ]><ns0:svg>', 'svg'],
    ['<svg:g>', null],
    ['<!DOCTYPE svg SYSTEM "a>b"><svg>', 'svg'],
    ['<!DOCTYPE svg [ ]><svg>', 'svg'],
    ['<!DOCTYPE html [ ]><svg>', null],
    ['<!DOCTYPE html SYSTEM "><svg "><html>', null],
    ['<html><svg></svg></html>', null],
    ['<svgz>', null],
    ['text <svg>', null],
    [`<!--${' '.repeat(2 ** 15)}--><svg>`, 'svg'],
    [`<!--${' '.repeat(2 ** 16)}--><svg>`, null],
    ['<!-- <svg>', null],
  ];
  for (const [text, kind] of rows) t.equal(recognised(Buffer.from(text)), kind, text.slice(0, 60));
  t.equal(recognised(Buffer.from('\ufeff<svg/>', 'utf16le')), 'svg', 'UTF-16');
  t.equal(recognised(Buffer.from('<svg/>', 'utf16le')), null, 'UTF-16 without a mark');
});

t.test('does not detect other formats', async (t) => {
  const pixels = await noise(8, 8).raw().toBuffer();
  const texts = ['', '\xff', 'hello', 'BM\x46\0\0\0', '8BPS\0\x01', 'PK\x03\x04'];
  texts.push('\0'.repeat(100), 'RIFF\0\0\0\0WAVEfmt ', '\x1f\x8b\x08\0', '\x89PN');
  for (const bytes of [pixels, ...texts.map((text) => Buffer.from(text, 'latin1'))]) {
    t.equal(recognised(bytes), null, bytes.toString('latin1', 0, 8));
  }
});
