import type { Results } from '../report.ts';
import type { Point } from './curves.ts';
import type { Meter, Photograph } from './meter.ts';
import type { ComparedFormat } from './service-encodings.ts';

/** By the length of their longer sides. */
export type Photographs = ReadonlyMap<number, readonly Photograph[]>;

export interface EncodersBench {
  readonly results: Results;
  readonly meter: Meter;
  readonly photographs: Photographs;
  /** The service encodes drawings with separate settings and losslessly. */
  readonly drawings: Photographs;
}

/** Curves per photograph. */
export type Curves = Record<ComparedFormat, Point[][]>;
