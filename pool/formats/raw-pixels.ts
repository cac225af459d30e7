import type { DecoderInput, SourceFacts, SourceFormat } from './source-format.ts';

/** Raw pixels, as input of sharp. */
export interface RawPixels {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
  /** Height of a frame; absent for a still image. */
  readonly pageHeight?: number;
}

/** Properties shared by formats that the service decodes to pixels itself. */
export const rawFile = {
  runsIn: 'process',
  vector: false,
  animates: false,
  hasMetadata: false,
  container: null,
  options: {},
} as const satisfies Partial<SourceFormat>;

export const rawInput = ({ data, ...raw }: RawPixels): DecoderInput => ({
  bytes: data,
  options: { raw },
});

/** Facts about pixels without a file, such as a bitmap's. */
export const plainFacts = {
  orientation: 1,
  frames: 1,
  storedFrames: 1,
  timing: null,
  ownDecoder: false,
  exceedsThread: false,
  gainMap: null,
  extraSamples: false,
  colour: {
    model: 'rgb',
    hasProfile: false,
    profileName: null,
    isSrgb: false,
    is16Bit: false,
    space: null,
  },
} as const satisfies Partial<SourceFacts>;
