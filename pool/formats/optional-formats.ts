import sharp from 'sharp';
import { kinds, sourceKinds } from './kinds.ts';

/** Formats that only some builds of libvips read; npm's binaries of sharp read neither. */
interface OptionalFormats {
  readonly heic: boolean;
  readonly jxl: boolean;
}

/** A HEIC of 16 x 16 grey pixels: libheif may be there without a decoder of HEVC. */
const heic = Buffer.from(
  'AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAaptZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA' +
    'AAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAABAAEAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHOAAEAAAAAAAAAHAACAAEA' +
    'AAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAA' +
    'AADVaXBycAAAALNpcGNvAAAAc2h2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAe' +
    'ugJAIQABACdCAQEDcAAAAwCQAAADAAADAB6gIIEFluqumubAgAAAAwCAAAADAIQiAAEABkQBwXPBiQAAABRpc3BlAAAAAAAA' +
    'AEAAAABAAAAAFGlzcGUAAAAAAAAAEAAAABAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QAAAAa' +
    'aXJlZgAAAAAAAAAOZGltZwACAAEAAQAAACRtZGF0AAAAGCgBrwQSONz4laCSMKznLzyhXt7gkfCKgA==',
  'base64',
);

let found: OptionalFormats = { heic: false, jxl: sharp.format.jxl.input.buffer };

/** Resolves when it was tried whether the installed libvips reads HEVC, a moment after the start. */
export const optionalFormatsProbed: Promise<void> = sharp(heic)
  .raw()
  .toBuffer()
  .then(
    () => {
      found = { ...found, heic: true };
    },
    () => {},
  );

export const optionalFormats = (): OptionalFormats => found;

/** The names of the formats that sources may have here, for people. */
export function readableFormats({ heic, jxl } = found): string[] {
  const here = sourceKinds.filter((kind) => kind !== 'heif' && (kind !== 'jxl' || jxl));
  return [...here.map((kind) => kinds[kind].label), ...(heic ? ['HEIC'] : [])];
}
