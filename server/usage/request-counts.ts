import { type ImageTier, imageTiers } from '../../pool/tiers.ts';

export const tiers = ['none', ...imageTiers] as const;
/** The image's cache tier, or `none` for other responses. */
export type Tier = ImageTier | 'none';

/** Image requests by tier. */
export type TierCounts = Record<Tier, number>;

const zero = Object.fromEntries(tiers.map((tier) => [tier, 0])) as TierCounts;
export const newTierCounts = (): TierCounts => ({ ...zero });

/** Renders, and their time on transform threads, in ms. */
interface RenderCounts {
  renders: number;
  renderMs: number;
}

/** A project's counts in this process since the last collection. */
export class RequestCounts {
  readonly project: string;
  readonly live = newCounts();
  readonly background = newCounts();
  /** Bytes of response bodies with images, or with ranges of images. */
  bytes = 0;
  /** Whether `UsageTotals` lists the counts. */
  isListed = false;

  constructor(project: string) {
    this.project = project;
  }

  clear(): void {
    this.bytes = 0;
    this.isListed = false;
    for (const { tiers: counts, renders } of [this.live, this.background]) {
      for (const tier of tiers) counts[tier] = 0;
      renders.renders = 0;
      renders.renderMs = 0;
    }
  }
}

const newCounts = (): { readonly tiers: TierCounts; readonly renders: RenderCounts } => ({
  tiers: newTierCounts(),
  renders: { renders: 0, renderMs: 0 },
});
