import type { SourceFacts } from '../formats/facts.ts';
import { IsolationRequired } from '../formats/isolation.ts';
import { encodingFrame } from './cost.ts';
import type { Plan } from './plan.ts';

/**
 * Native calls that libvips' timeout does not interrupt, in ms per megapixel: the maximum over photographs
 * and noise at all qualities, on a core that resizes 88 photographs of 6 megapixels to 800 px per second.
 * Other decoders and encoders end within a second of the timeout.
 */
const uninterruptible = {
  decode: { avif: 600, heif: 600 },
  encode: { avif: 1900, gif: 500 },
} as const satisfies Record<'decode' | 'encode', Readonly<Record<string, number>>>;

/** Maximum on a thread, in ms: how long a transform can occupy it after its timeout. */
const maxUninterruptibleMs = 2000;

/**
 * @param encodes maximum encoder runs
 * @throws IsolationRequired
 */
export function requireInterruptible(facts: SourceFacts, plan: Plan, encodes: number): void {
  const { decode, encode } = uninterruptible;
  const frames = plan.animated ? facts.frames : 1;
  const megapixels = (size: { width: number; height: number }) => (size.width * size.height) / 1e6;
  const frameMs =
    megapixels(plan) * costIn(encode, plan.format) +
    (frames > 1 ? costIn(encodingFrame, plan.format) : 0);
  const ms = megapixels(facts) * costIn(decode, facts.kind) + frames * encodes * frameMs;
  if (ms > maxUninterruptibleMs) throw new IsolationRequired();
}

function costIn(table: Readonly<Record<string, number>>, name: string): number {
  return table[name] ?? 0;
}
