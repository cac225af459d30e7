import t from 'tap';
import { type ComparedUrl, compareImages } from './compare.ts';

/**
 * Compares a delivery host with a thumbor 7 that runs at `THUMBOR_URL` with `RESPECT_ORIENTATION =
 * True`, and does not choose formats itself.
 */
const thumborUrl = process.env['THUMBOR_URL'] ?? '';
const skip = thumborUrl === '' && 'THUMBOR_URL is not set';

/** Path before the filters, the filters, and the image. */
const rows: readonly (readonly [before: string, filters: string, picture: string])[] = [
  ['', '', 'photo.jpg'],
  ['300x0', '', 'photo.jpg'],
  ['300x', '', 'photo.jpg'],
  ['0x200', '', 'photo.jpg'],
  ['333x0', '', 'photo.jpg'],
  ['300x200', '', 'photo.jpg'],
  ['200x300', '', 'photo.jpg'],
  ['2000x0', '', 'photo.jpg'],
  ['1700x500', '', 'photo.jpg'],
  ['origxorig', '', 'photo.jpg'],
  ['200x300/left', '', 'photo.jpg'],
  ['200x300/right', '', 'photo.jpg'],
  ['300x90/top', '', 'photo.jpg'],
  ['300x90/bottom', '', 'photo.jpg'],
  ['200x300/left/top', '', 'photo.jpg'],
  ['300x90/right/bottom', '', 'photo.jpg'],
  ['-200x300/left', '', 'photo.jpg'],
  ['300x-90/top', '', 'photo.jpg'],
  ['-300x-0', '', 'photo.jpg'],
  ['-0x-0', '', 'photo.jpg'],
  ['fit-in/300x300', '', 'photo.jpg'],
  ['fit-in/2000x2000', '', 'photo.jpg'],
  ['fit-in/2000x300', '', 'photo.jpg'],
  ['fit-in/2000x2000', 'upscale()', 'photo.jpg'],
  ['fit-in/300x0', '', 'photo.jpg'],
  ['fit-in/300x300', 'fill(ff8000)', 'photo.jpg'],
  ['fit-in/300x120', 'fill(white)', 'photo.jpg'],
  ['full-fit-in/300x300', '', 'photo.jpg'],
  ['full-fit-in/1700x1700', '', 'photo.jpg'],
  ['adaptive-fit-in/300x300', '', 'photo.jpg'],
  ['100x80:500x380', '', 'photo.jpg'],
  ['100x80:500x380/200x0', '', 'photo.jpg'],
  ['100x80:500x380/200x200/left', '', 'photo.jpg'],
  ['100x80:5000x3800/200x0', '', 'photo.jpg'],
  ['2000x0', 'no_upscale()', 'photo.jpg'],
  ['300x300', 'stretch()', 'photo.jpg'],
  ...(['photo.jpg', 'small.png'] as const).flatMap((picture) =>
    (
      [
        ['2000x500', 'no_upscale()'],
        ['300x2000/top', 'no_upscale()'],
        ['2000x2000', 'no_upscale()'],
        ['0x2000', 'no_upscale()'],
        ['2000x500', 'no_upscale():stretch()'],
        ['2000x500', 'no_upscale():rotate(90)'],
        ['2000x500', 'no_upscale():fill(red)'],
        ['fit-in/2000x2000', 'fill(white)'],
        ['fit-in/2000x500', 'fill(ff8000)'],
        ['fit-in/500x2000', 'fill(white):rotate(90)'],
        ['fit-in/2000x0', 'fill(ff8000)'],
        ['fit-in/0x2000', 'fill(white)'],
        ['fit-in/2000x0', 'upscale()'],
        ['fit-in/2000x2000', 'upscale():fill(white)'],
        ['fit-in/2000x2000', 'upscale():no_upscale()'],
        ['full-fit-in/2000x500', 'no_upscale()'],
        ['full-fit-in/2000x500', 'fill(white)'],
        ['100x80:500x380/2000x0', 'no_upscale()'],
        ['100x80:500x380/2000x200', 'no_upscale()'],
        ['100x80:500x380/fit-in/2000x500', 'fill(white)'],
        ['100x80:500x380/full-fit-in/2000x500', 'no_upscale()'],
      ] as const
    ).map(([before, filters]) => [before, filters, picture] as const),
  ),
  ['trim/2000x500', 'no_upscale()', 'frame.png'],
  ['trim/2000x0', 'no_upscale()', 'frame.png'],
  ['300x200', 'rotate(90)', 'photo.jpg'],
  ['300x90/top', 'rotate(90)', 'photo.jpg'],
  ['200x300/left', 'rotate(270)', 'photo.jpg'],
  ['300x0', 'rotate(90)', 'photo.jpg'],
  ['-300x0', 'rotate(90)', 'photo.jpg'],
  ['300x200', 'rotate(180)', 'photo.jpg'],
  ['200x300', 'focal(1100x280:1140x320)', 'photo.jpg'],
  ['300x90', 'focal(1100x280:1140x320)', 'photo.jpg'],
  ['-200x300', 'focal(1100x280:1140x320):rotate(90)', 'photo.jpg'],
  ['100x80:500x380/200x90', 'focal(150x300:250x350)', 'photo.jpg'],
  ['300x0', 'quality(60)', 'photo.jpg'],
  ['300x0', 'format(webp)', 'photo.jpg'],
  ['300x0', 'format(png)', 'photo.jpg'],
  ['300x0', 'grayscale()', 'photo.jpg'],
  ['300x0', 'blur(10,3)', 'photo.jpg'],
  ['300x0', 'blur(4)', 'photo.jpg'],
  ['300x0', 'saturation(0.5)', 'photo.jpg'],
  ['300x0', 'saturation(1.5)', 'photo.jpg'],
  ['300x0', 'new(1)', 'photo.jpg'],
  ['', '', 'small.png'],
  ['200x0', '', 'small.png'],
  ['800x0', '', 'small.png'],
  ['fit-in/500x500', '', 'small.png'],
  ['300x0', '', 'turned.jpg'],
  ['200x300/left', '', 'turned.jpg'],
  ['100x80:500x380', '', 'turned.jpg'],
  ['trim', '', 'frame.png'],
  ['trim/400x0', '', 'frame.png'],
  ['400x0', '', 'clear.png'],
  ['400x0', 'background_color(red)', 'clear.png'],
  ['fit-in/400x400', 'fill(red,1)', 'clear.png'],
];

/** thumbor weighs the channels of colours in another way. */
const colours = /^(?:grayscale|saturation)\(/;

/** Filters that only change the encoding. */
const encoding = /^(?:quality|format|max_bytes)\(/;

function toUrls(originUrl: string): ComparedUrl[] {
  return rows.map(([before, filters, picture]) => {
    const of = (calls: readonly string[]) => {
      const all = calls.length > 0 ? `filters:${calls.join(':')}` : '';
      return ['/unsafe', before, all, `${originUrl}/${picture}`]
        .filter((part) => part !== '')
        .join('/');
    };
    const calls = filters.split(/(?<=\)):/).filter((call) => call !== '');
    const lossless = calls.filter((call) => !encoding.test(call));
    const maxError = colours.test(filters) ? 8 : 3;
    return { path: of(calls), asPng: of([...lossless, 'format(png)']), maxError };
  });
}

t.setTimeout(300_000);

t.test('matches thumbor', { skip, timeout: 300_000 }, async (t) => {
  await compareImages(t, 'thumbor', thumborUrl, toUrls);
});
