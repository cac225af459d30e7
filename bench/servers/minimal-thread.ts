import sharp from 'sharp';
import { avifThreads } from '../../pool/execution/encoder-threads.ts';
import type { EncodedFormat, EncoderOptions } from './server.ts';

/** A transform of the minimal server. */
export interface MinimalTask {
  readonly source: ArrayBuffer;
  readonly width: number;
  readonly format: EncodedFormat;
  readonly options: EncoderOptions;
}

sharp.cache(false);

export default ({ source, width, format, options }: MinimalTask): Promise<Buffer> => {
  sharp.concurrency(format === 'avif' ? avifThreads : 1);
  return sharp(source, { autoOrient: true }).resize(width).toFormat(format, options).toBuffer();
};
