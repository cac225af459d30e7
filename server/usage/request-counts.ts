import { type ImageTier, imageTiers } from '../../pool/tiers.ts';

export const tiers = ['none', ...imageTiers] as const;
/** The cache tier of an image; `none` for other responses. */
export type Tier = ImageTier | 'none';

/** Image requests by tier. */
export type TierCounts = Record<Tier, number>;

const zero = Object.fromEntries(tiers.map((tier) => [tier, 0])) as TierCounts;
export const newTierCounts = (): TierCounts => ({ ...zero });

/** Transforms, and the time that they took on their threads, in ms. */
interface RenderCounts {
  renders: number;
  renderMs: number;
}

/** What a process has counted for a project since the counts were last collected. */
export class RequestCounts {
  readonly project: string;
  readonly live = newCounts();
  /** Of background requests. */
  readonly background = newCounts();
  /** Bytes of the bodies with images, or with ranges of them. */
  bytes = 0;
  /** Whether `UsageTotals` has the counts in its list. */
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
