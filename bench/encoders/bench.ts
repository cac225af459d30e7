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
  /** Which the service encodes with settings of their own, and without loss. */
  readonly drawings: Photographs;
}

/** The curves of each photograph. */
export type Curves = Record<ComparedFormat, Point[][]>;
