import { inspect } from 'node:util';
import { parentPort } from 'node:worker_threads';
import type Vips from 'wasm-vips';
import type { Timing } from '../../../formats/source-format.ts';
import { isOutOfMemory, memoryBytes } from '../../../formats/wasm/memory.ts';
import { keepFlags, openVips } from '../../../formats/wasm/vips.ts';

/** The entry point of the thread that encodes JPEG XL, one image at a time. */

/** Pixels as sharp returns them, or a file. */
export interface JxlInput {
  readonly bytes: Uint8Array;
  readonly form:
    | {
        readonly type: 'pixels';
        readonly width: number;
        readonly height: number;
        /** Grey or RGB, with or without alpha; 8 bits each. */
        readonly channels: 1 | 2 | 3 | 4;
      }
    | { readonly type: 'png'; readonly hasExif: boolean }
    /** The frames of an animation. */
    | { readonly type: 'tiff'; readonly timing: Timing };
}

export interface JxlOptions {
  /** 1..100 on libvips' scale (distance 15 to 0.1); null for an encoding without loss. */
  readonly quality: number | null;
  /** 1..9. */
  readonly effort: number;
}

export interface JxlTask extends JxlOptions {
  readonly input: JxlInput;
}

export type JxlResult =
  | {
      readonly ok: true;
      readonly data: Uint8Array<ArrayBuffer>;
      /** Memory of the WebAssembly instance after this image. */
      readonly memoryBytes: number;
    }
  | { readonly ok: false; readonly outOfMemory: boolean; readonly detail: string };

const opened = openVips();

async function encode({ input, quality, effort }: JxlTask): Promise<JxlResult> {
  const vips = await opened;
  const image = open(vips, input);
  const options = quality === null ? { lossless: true } : { Q: quality };
  const keep =
    keepFlags.icc +
    keepFlags.xmp +
    (input.form.type === 'png' && input.form.hasExif ? keepFlags.exif : 0);
  const data = new Uint8Array(image.jxlsaveBuffer({ ...options, effort, keep, bitdepth: 8 }));
  image.delete();
  return { ok: true, data, memoryBytes: memoryBytes() };
}

function open(vips: typeof Vips, { bytes, form }: JxlInput): Vips.Image {
  if (form.type === 'png') return vips.Image.pngloadBuffer(bytes);
  if (form.type === 'tiff') {
    const frames = vips.Image.tiffloadBuffer(bytes, { n: -1 });
    frames.setArrayInt('delay', [...form.timing.delay]);
    frames.setInt('loop', form.timing.loop);
    return frames;
  }
  const { width, height, channels } = form;
  const { uchar } = vips.BandFormat;
  const bare = vips.Image.newFromMemory(bytes, width, height, channels, uchar);
  const image = bare.copy({ interpretation: channels < 3 ? 'b-w' : 'srgb' });
  bare.delete();
  return image;
}

parentPort?.on('message', async (task: JxlTask) => {
  const result = await encode(task).catch(
    (error: unknown): JxlResult => ({
      ok: false,
      outOfMemory: isOutOfMemory(error),
      detail: inspect(error),
    }),
  );
  parentPort?.postMessage(result, result.ok ? [result.data.buffer] : []);
});
