import { asBuffer, type Matcher } from '../bytes.ts';

/** Brands of HEIFs coded with HEVC. */
const hevcBrands: readonly string[] = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx'];

/** libvips takes a file with such a major brand for HEVC, whatever its other brands are. */
const isHevc: Matcher = (text) =>
  text.startsWith('ftyp', 4) && hevcBrands.includes(text.slice(8, 12));

export const isAvif: Matcher = (text, head) =>
  !isHevc(text, head) && hasBrand(['avif', 'avis'], text, head);

/** Matches HEIF files other than AVIF. */
export const isHeif: Matcher = (text, head) =>
  isHevc(text, head) || hasBrand([...hevcBrands, 'mif1', 'msf1'], text, head);

/** Compares the major and compatible brands of an ISO base media file (ISO/IEC 14496-12, 4.3). */
function hasBrand(brands: readonly string[], text: string, head: Buffer): boolean {
  if (head.length < 16 || !text.startsWith('ftyp', 4)) return false;
  const end = Math.min(head.readUInt32BE(0), head.length);
  const found = [text.slice(8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) found.push(text.slice(at, at + 4));
  return found.some((brand) => brands.includes(brand));
}

/** The major brands that libvips 8.18 opens (libvips/foreign/heifload.c). */
const openedBrands: ReadonlySet<string> = new Set(
  'avif heic heix hevc heim heis hevm hevs mif1 msf1'.split(' '),
);

/**
 * Replaces a major brand that libvips does not open, such as `mif2`, and `avis` for sequences,
 * which mostly include a still image. libvips compares only the major brand and ignores compatible
 * brands. Returns a copy if the bytes change.
 */
export const withOpenedBrand =
  (brand: 'avif' | 'mif1') =>
  (source: Uint8Array): Uint8Array => {
    if (openedBrands.has(asBuffer(source).toString('latin1', 8, 12))) return source;
    const copy = Buffer.from(source);
    copy.write(brand, 8, 'latin1');
    return copy;
  };
