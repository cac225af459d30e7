/**
 * Scans of a JPEG (ITU-T T.81, B.1): a baseline one has one to four, a progressive one usually about
 * ten. A decoder visits all pixels in each, even where it has only a few bytes.
 *
 * @param bytes of any file; counts nothing in one that is no JPEG
 */
export function countScans(bytes: Uint8Array): number {
  let scans = 0;
  let componentsInOneScan = 0;
  // Behind the start of the image.
  let at = 2;
  while (at + 4 <= bytes.byteLength) {
    const marker = bytes[at] === 0xff ? (bytes[at + 1] ?? 0) : 0;
    // Fill bytes, and bytes between segments, which decoders skip.
    if (marker === 0 || marker === 0xff || isWithoutLength(marker)) {
      at = nextMarker(bytes, marker === 0xff ? at : at + 1);
      continue;
    }
    if (marker === endOfImage) return scans;
    if (isSequentialFrame(marker)) componentsInOneScan = bytes[at + 9] ?? 0;
    if (marker === startOfScan) {
      scans += 1;
      // All that libjpeg-turbo reads of such a file, most photographs; the search for another marker
      // would take 0.3 ms of 800 KB.
      if (scans === 1 && bytes[at + 4] === componentsInOneScan) return scans;
    }
    at += 2 + (((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));
  }
  return scans;
}

const startOfScan = 0xda;
/** SOF0 and SOF1, not progressive: each component has one scan, and a scan may have all of them. */
const isSequentialFrame = (marker: number): boolean => marker === 0xc0 || marker === 0xc1;
const endOfImage = 0xd9;

/** RSTn, SOI and TEM. */
const isWithoutLength = (marker: number): boolean =>
  (marker >= 0xd0 && marker <= 0xd8) || marker === 0x01;

/** The next 0xff from an offset on that begins a marker with a segment, or the end of the bytes. */
function nextMarker(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.byteLength; at++) {
    if (bytes[at] !== 0xff) at = bytes.indexOf(0xff, at);
    if (at === -1) break;
    const marker = bytes[at + 1] ?? 0;
    if (marker !== 0 && marker !== 0xff && !isWithoutLength(marker)) return at;
  }
  return bytes.byteLength;
}
