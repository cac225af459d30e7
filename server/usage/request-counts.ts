import type { Image } from '../../pool/image.ts';
import { type ImageTier, imageTiers } from '../../pool/tiers.ts';

export const tiers = ['none', ...imageTiers] as const;
/** The image's cache tier, or `none` for other responses. */
export type Tier = ImageTier | 'none';

/** Image requests by tier. */
export type TierCounts = Record<Tier, number>;

const zero = Object.fromEntries(tiers.map((tier) => [tier, 0])) as TierCounts;
export const newTierCounts = (): TierCounts => ({ ...zero });

export interface KindCounts {
  readonly tiers: TierCounts;
  renders: number;
  /** Time on transform threads. */
  renderMs: number;
  /** Bytes of response bodies with images, or with ranges of images. */
  bytes: number;
}

/** Requests by clients, by prewarming and other background work, and by the console. */
export const requestKinds = ['live', 'background', 'console'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** A project's counts in this process since the last collection. */
export class RequestCounts implements Readonly<Record<RequestKind, KindCounts>> {
  readonly project: string;
  readonly live = newCounts();
  readonly background = newCounts();
  readonly console = newCounts();
  /** Whether `UsageTotals` lists the counts. */
  isListed = false;

  constructor(project: string) {
    this.project = project;
  }

  clear(): void {
    this.isListed = false;
    for (const kind of requestKinds) {
      const counts = this[kind];
      for (const tier of tiers) counts.tiers[tier] = 0;
      counts.renders = 0;
      counts.renderMs = 0;
      counts.bytes = 0;
    }
  }
}

const newCounts = (): KindCounts => ({ tiers: newTierCounts(), renders: 0, renderMs: 0, bytes: 0 });

/**
 * The subject of a response, and its number of requests since the last collection. Responses in the
 * response cache keep it, so that a hit only increments two numbers.
 */
export class RequestCounter {
  readonly project: string;
  readonly source: string;
  readonly variant: string;
  /** Whether the URL would pass if the project required signatures. */
  readonly isSigned: boolean;
  /** Original bytes per image byte, or 0 if they cannot be compared. */
  readonly originalRatio: number;
  requests = 0;
  bytes = 0;

  constructor(
    { project, source, variant, isSigned }: RequestedImage,
    { body, contentType, sourceBytes = 0 }: Pick<Image, 'body' | 'contentType' | 'sourceBytes'>,
  ) {
    this.project = project;
    this.source = source;
    this.variant = variant;
    this.isSigned = isSigned;
    const isComparable = contentType.startsWith('image/') && body.byteLength > 0;
    this.originalRatio = isComparable ? sourceBytes / body.byteLength : 0;
  }
}

/** @see RequestCounter */
type RequestedImage = Pick<RequestCounter, 'project' | 'source' | 'variant' | 'isSigned'>;
