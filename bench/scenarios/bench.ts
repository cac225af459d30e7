import type { OpenResources } from '../open-resources.ts';
import type { Results } from '../report.ts';
import type { ImageServer } from '../servers/server.ts';
import type { SourcePictures } from './sources.ts';

/** A scenario's inputs. `M`: the measures' names. */
export interface Bench<M extends string = string> {
  /** Fewer rounds, cases and requests: the figures are preliminary. */
  readonly quick: boolean;
  readonly rounds: number;
  /** A measurement's duration. */
  readonly seconds: number;
  readonly cores: number;
  readonly sources: SourcePictures;
  readonly results: Results<M>;
  /** Closed after the scenario. */
  readonly opened: OpenResources;
  /** Folder of photographs, and the command that scores them; null if not given. */
  readonly photographs: string | null;
  readonly ssimulacra2: string | null;
  /** Of the command line. */
  readonly peers: readonly ImageServer[];
}

let lastNumber = 0;
/** The first of a million numbers that no request has used before. */
export function unusedNumber(): number {
  lastNumber += 1_000_000;
  return lastNumber;
}
