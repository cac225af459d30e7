import sharp from 'sharp';
import type { EncodedFormat, EncoderOptions } from './encoder-settings.ts';

/** A transform of the minimal server. */
export interface MinimalTask {
  readonly source: ArrayBuffer;
  readonly width: number;
  readonly format: EncodedFormat;
  readonly options: EncoderOptions;
}

sharp.cache(false);
sharp.concurrency(1);

export default ({ source, width, format, options }: MinimalTask): Promise<Buffer> =>
  sharp(source, { autoOrient: true }).resize(width).toFormat(format, options).toBuffer();
