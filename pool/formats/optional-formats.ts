import sharp from 'sharp';
import { kinds, type SourceKind, sourceKinds } from './kinds.ts';

/** What only some builds of libvips decode; sharp's binaries on npm decode neither, and other decoders are used. */
interface OptionalFormats {
  readonly hevc: boolean;
  readonly jxl: boolean;
}

/** Formats that an operator can refuse. */
export interface AllowedFormats {
  readonly heic: boolean;
  readonly pdf: boolean;
}

export const allFormats: AllowedFormats = { heic: true, pdf: true };

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

let found: OptionalFormats = { hevc: false, jxl: sharp.format.jxl.input.buffer };

/** Resolves when the probe for HEVC support is done, shortly after the start. */
export const optionalFormatsProbed: Promise<void> = sharp(heic)
  .raw()
  .toBuffer()
  .then(
    () => {
      found = { ...found, hevc: true };
    },
    () => {},
  );

export const optionalFormats = (): OptionalFormats => found;

/** Names of the source formats that this installation decodes. */
export function readableFormats({ heic, pdf }: AllowedFormats): string[] {
  const optional: Partial<Readonly<Record<SourceKind, boolean>>> = { heif: false, pdf };
  const readable = sourceKinds.filter((kind) => optional[kind] ?? true);
  return [...readable.map((kind) => kinds[kind].label), ...(heic ? ['HEIC'] : [])];
}
