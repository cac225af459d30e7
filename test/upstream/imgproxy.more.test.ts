import t from 'tap';
import { type ComparedUrl, compareImages } from './compare.ts';
import { imgproxyUrls } from './imgproxy-urls.ts';

/**
 * Compares a delivery host with an imgproxy 4 at `IMGPROXY_URL`. It must run with no key, and be
 * allowed to fetch from this machine (`IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES=true`).
 */
const imgproxyUrl = process.env['IMGPROXY_URL'] ?? '';
const skip = imgproxyUrl === '' && 'IMGPROXY_URL is not set';

/** Options that only change the encoding. */
const encoding = /^(?:f|ext|q|mb|format|quality|max_bytes):/;

function toUrls(originUrl: string): ComparedUrl[] {
  return imgproxyUrls.map(({ options, source, extension = '' }) => {
    const of = (segments: readonly string[], format: string) =>
      ['/unsafe', ...segments, 'plain', `${originUrl}/${source}${format}`].join('/');
    const segments = options.split('/').filter((option) => option !== '');
    const lossless = segments.filter((option) => !encoding.test(option));
    return { path: of(segments, extension), asPng: of(lossless, '@png') };
  });
}

t.setTimeout(300_000);

t.test('matches imgproxy', { skip, timeout: 300_000 }, async (t) => {
  await compareImages(t, 'imgproxy', imgproxyUrl, toUrls);
});
