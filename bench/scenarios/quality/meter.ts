import type { Source } from '../../encoders/sources.ts';
import { ssim, toReference } from '../../encoders/ssim.ts';
import { Ssimulacra2 } from '../../encoders/ssimulacra2.ts';

/** What says how good an image is. */
export interface Meter {
  readonly name: 'SSIMULACRA2' | 'SSIM';
  /** Digits after the point that say something. */
  readonly digits: number;
  score(reference: Source, encoded: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** @param command that measures SSIMULACRA2; null for SSIM */
export async function openMeter(command: string | null): Promise<Meter> {
  if (command === null) {
    return {
      name: 'SSIM',
      digits: 4,
      score: async (reference, encoded) => ssim(await toReference(reference.open()), encoded),
      close: async () => {},
    };
  }
  const meter = await Ssimulacra2.open(command);
  return {
    name: 'SSIMULACRA2',
    digits: 1,
    score: (reference, encoded) => meter.score(reference, encoded),
    close: () => meter.close(),
  };
}
