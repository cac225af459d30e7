import sharp from 'sharp';
import { kinds, sourceKinds } from './kinds.ts';

/** Formats that only some builds of libvips decode; sharp's binaries on npm decode neither. */
interface OptionalFormats {
  readonly heic: boolean;
  readonly jxl: boolean;
}

/** A HEIC of 16 x 16 grey pixels, because libheif may be installed without an HEVC decoder. */
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

/** Resolves when the probe for HEVC support is done, shortly after the start. */
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

/** Names of the source formats that this installation decodes. */
export function readableFormats({ heic, jxl } = found): string[] {
  const readable = sourceKinds.filter((kind) => kind !== 'heif' && (kind !== 'jxl' || jxl));
  return [...readable.map((kind) => kinds[kind].label), ...(heic ? ['HEIC'] : [])];
}
