import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import sharp from 'sharp';
import { pngOfRows } from '../../pool/formats/heic/png.ts';

const require = createRequire(import.meta.url);

/** An image of libheif-js, by its simple interface, which has 8 bits. */
interface HeifImage {
  is_primary(): boolean;
  get_width(): number;
  get_height(): number;
  display(into: { data: Uint8Array }, done: (shown: { data: Uint8Array } | null) => void): void;
}

interface Libheif {
  readonly HeifDecoder: new () => { decode(source: Uint8Array): HeifImage[] };
}

let loaded: Libheif | null = null;

/** Returns a HEIC as a PNG if sharp cannot decode it itself, and other sources unchanged. */
export async function readable(source: Buffer): Promise<Uint8Array> {
  const header = await sharp(source, { limitInputPixels: false }).metadata();
  if (header.compression !== 'hevc') return source;
  loaded ??= require('libheif-js/libheif-wasm/libheif.js')({
    wasmBinary: readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm')),
  }) as Libheif;
  const images = new loaded.HeifDecoder().decode(source);
  const image = images.find((candidate) => candidate.is_primary()) ?? images[0];
  if (image === undefined) throw new Error('libheif finds no image.');
  const [width, height] = [image.get_width(), image.get_height()];
  const data = new Uint8Array(4 * width * height);
  const shown = await new Promise((resolve) => image.display({ data }, resolve));
  if (shown === null) throw new Error('libheif cannot decode the image.');
  const form = { width, height, channels: 4, bits: 8 } as const;
  const metadata = { icc: header.icc, exif: undefined, xmp: undefined };
  return pngOfRows(form, metadata, (y, row) => {
    row.set(data.subarray(y * row.length, (y + 1) * row.length));
  });
}
