import { asBuffer } from '../bytes.ts';
import { type PartRole, type Parts, StepLimit } from '../container/examination.ts';
import { plainCmykProfile } from '../metadata/cmyk.ts';

const markers = {
  temporary: 0x01,
  huffmanTables: 0xc4,
  quantisationTables: 0xdb,
  restartInterval: 0xdd,
  restart: 0xd0,
  start: 0xd8,
  end: 0xd9,
  scan: 0xda,
  app0: 0xe0,
  app1: 0xe1,
  app2: 0xe2,
  photoshop: 0xed,
  adobe: 0xee,
  app15: 0xef,
  comment: 0xfe,
} as const;

/**
 * Segments that decoders need (ITU-T T.81, B.1.1.3): frame headers, tables, restart intervals.
 * Excludes arithmetic coding and hierarchical images, which browsers do not show.
 */
const needed: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2, 0xc4, 0xdb, 0xdd]);

/** Roles of application segments, by their initial text. */
const applications = [
  { marker: markers.app1, begins: 'Exif\0', role: 'exif' },
  { marker: markers.app1, begins: 'http://ns.adobe.com/x', role: 'xmp' },
  { marker: markers.app2, begins: 'ICC_PROFILE\0', role: 'profile' },
  { marker: markers.photoshop, begins: 'Photoshop 3.0\0', role: 'iptc' },
] as const;

const jfifBytes = 18;
const adobeBytes = 16;

/** Yields a JPEG's segments, and each scan's coded data. */
export function* jpegParts(file: Buffer): Parts {
  const steps = new StepLimit();
  let componentsInOneScan = 0;
  let scans = 0;
  for (let at = 2; at + 2 <= file.length; ) {
    const type = file[at] === 0xff ? (file[at + 1] ?? 0) : 0;
    if (type === markers.end) return yield { role: 'end', from: at, to: at + 2, last: true };
    // Fill bytes, and bytes between segments, which decoders skip.
    if (type === 0 || type === 0xff || isWithoutLength(type)) {
      const next = nextSegment(file, type === 0xff ? at : at + 1, steps);
      yield { role: 'unknown', from: at, to: next };
      at = next;
      continue;
    }
    if (at + 4 > file.length) return;
    const length = file.readUInt16BE(at + 2);
    // libjpeg treats a length below 2, the bytes of the length itself, as 2.
    const to = at + 2 + Math.max(2, length);
    if (to > file.length) return;
    // In SOF0 and SOF1 each component appears in one scan, and a scan can include all components.
    if (type === 0xc0 || type === 0xc1) componentsInOneScan = file[at + 9] ?? 0;
    if (type === markers.scan) scans += 1;
    // The data of a single scan is not searched for more segments.
    const last = type === markers.scan && scans === 1 && file[at + 4] === componentsInOneScan;
    const role = length < 2 ? 'unknown' : readRole(file, type, at, to);
    const part = { role, from: at, to, content: [at + 4, to], last } as const;
    const segment = file.subarray(at, to);
    yield type === markers.app0 && role === 'pixels'
      ? { ...part, plain: () => plainJfif(segment) }
      : part;
    at = to;
    if (type !== markers.scan) continue;
    at = endOfScan(file, to, steps);
    yield { role: 'pixels', from: to, to: at };
  }
}

function readRole(file: Buffer, type: number, from: number, to: number): PartRole {
  const begins = (text: string) =>
    file.toString('latin1', from + 4, from + 4 + text.length) === text;
  if (type === markers.scan) return 'scan';
  if (needed.has(type)) return 'pixels';
  if (type === markers.app0 && begins('JFIF\0')) {
    return to - from < jfifBytes ? 'unknown' : 'pixels';
  }
  // Adobe's segment defines the components' colour model.
  if (type === markers.adobe && begins('Adobe')) {
    return to - from === adobeBytes ? 'pixels' : 'unknown';
  }
  if (type === markers.comment) return 'text';
  if (type < markers.app0 || type > markers.app15) return 'unknown';
  return (
    applications.find((application) => application.marker === type && begins(application.begins))
      ?.role ?? 'other'
  );
}

/** Removes the JFIF segment's thumbnail (ITU-T T.871, 10.1). */
function plainJfif(segment: Buffer): Buffer {
  const plain = Buffer.from(segment.subarray(0, jfifBytes));
  plain.writeUInt16BE(jfifBytes - 2, 2);
  plain.fill(0, jfifBytes - 2);
  return plain;
}

const endMarker = Buffer.of(0xff, markers.end);

/**
 * Ends a JPEG that lacks its end marker, in a copy; returns the same bytes for other files, and for
 * files that end before the data of their first scan. libjpeg draws missing blocks grey, as in
 * browsers. A segment that the file ends in is left out: libjpeg rejects incomplete tables and scan
 * headers.
 */
export function withJpegEnd(source: Uint8Array): Uint8Array {
  const file = asBuffer(source);
  if (file.subarray(-2).equals(endMarker)) return source;
  let scanEnd: number | null = null;
  let end = 0;
  for (const { role, to, last } of jpegParts(file)) {
    if (role === 'end') return source;
    if (role === 'scan') scanEnd = to;
    end = last === true ? file.length : to;
    if (last === true) break;
  }
  // Coded data does not contain the marker; bytes behind it do not belong to the image.
  const isWhole = scanEnd === null || file.indexOf(endMarker, scanEnd) !== -1;
  return isWhole ? source : Buffer.concat([file.subarray(0, end), endMarker]);
}

/** Returns true for RSTn, SOI and TEM. */
const isWithoutLength = (type: number): boolean =>
  (type >= markers.restart && type <= markers.start) || type === markers.temporary;

/** Returns the next segment's marker, or the file's end. */
function nextSegment(file: Buffer, from: number, steps: StepLimit): number {
  for (let at = from + 1; at < file.length; at += 1) {
    steps.take();
    if (file[at] !== 0xff) at = file.indexOf(0xff, at);
    if (at === -1) break;
    const type = file[at + 1] ?? 0;
    if (type !== 0 && type !== 0xff && !isWithoutLength(type)) return at;
  }
  return file.length;
}

/** Returns the end of coded data: the first marker that is neither a restart nor a stuffed 0xff. */
function endOfScan(file: Buffer, from: number, steps: StepLimit): number {
  for (let at = file.indexOf(0xff, from); at !== -1; at = file.indexOf(0xff, at + 1)) {
    steps.take();
    const next = file[at + 1] ?? 0;
    // 0xff can be repeated before a marker.
    const codes = next === 0 || next === 0xff || (next >= markers.restart && next < markers.start);
    if (!codes) return at;
  }
  return file.length;
}

const name = Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1');
/**
 * Offsets of a profile in its first segment, and of the colour space in the profile (ICC.1:2022,
 * 7.2.6).
 */
const [profileAt, spaceAt] = [18, 16];

/**
 * Adds the browsers' CMYK profile to a CMYK JPEG that lacks a profile, in a copy; returns the same
 * bytes for other files.
 */
export function withCmykProfile(source: Uint8Array): Uint8Array {
  const file = asBuffer(source);
  let components = 0;
  const kept: Buffer[] = [];
  let end = 2;
  for (const { role, from, to } of jpegParts(file)) {
    if (role === 'scan') break;
    if (role === 'profile') {
      const space = file.toString(
        'latin1',
        from + profileAt + spaceAt,
        from + profileAt + spaceAt + 4,
      );
      if (space === 'CMYK') return source;
    } else kept.push(file.subarray(from, to));
    const type = file[from + 1] ?? 0;
    if (type >= 0xc0 && type <= 0xc2) components = file[from + 9] ?? 0;
    end = to;
  }
  if (components !== 4) return source;
  const profile = plainCmykProfile();
  const head = Buffer.from([0xff, markers.app2, 0, 0]);
  head.writeUInt16BE(2 + name.length + profile.length, 2);
  return Buffer.concat([file.subarray(0, 2), head, name, profile, ...kept, file.subarray(end)]);
}
