import { isExaminedInProcess } from '../formats/isolation.ts';
import type { Container, Examined, InspectionLimits } from '../formats/source-format.ts';
import { hasText, plainVariant, type Variant } from '../variant.ts';
import {
  addCosts,
  type Cost,
  computeCost,
  decodingCost,
  isDecodedOnThread,
  isDrawnOnThread,
  isLight,
  isolatedCost,
  unopenedCost,
} from './cost.ts';
import { makePlan, type Plan } from './plan.ts';
import { croppedArea } from './used-area.ts';

/** Where a transform runs, and whether it waits for a heavy transform's turn. */
export interface Placement {
  /** Whether it runs in a killable process. */
  readonly isolated: boolean;
  /** Null for a light transform, which does not wait. */
  readonly cost: Cost | null;
}

/** A source or layer in the decision. */
interface Part {
  readonly isolated: boolean;
  readonly cost: Cost;
}

/** The source and the layers' images; null for texts. */
export interface OpenedInputs {
  readonly source: Container;
  readonly layers: readonly (Container | null)[];
}

export interface Prepared extends Examined {
  /** The plan for the area before `trim`. */
  readonly plan: Plan;
}

interface Placed {
  readonly placement: Placement;
  /** Null if a thread must not examine the source. */
  readonly prepared: Prepared | null;
}

/**
 * Decides from the headers of a source and its layers where a transform runs, before decoding
 * anything.
 *
 * @throws ServiceError of the source, like `prepare`; a layer's error is thrown when the layer is
 *   drawn
 */
export async function place(
  { source, layers }: OpenedInputs,
  variant: Variant,
  limits: InspectionLimits,
): Promise<Placed> {
  // Threads lack fonts, and the time for drawing letters is unpredictable.
  if (hasText(variant)) {
    return { placement: { isolated: true, cost: isolatedCost }, prepared: null };
  }
  const prepared = isExaminedInProcess(source) ? null : await prepare(source, variant, limits);
  const parts: Part[] = [
    prepared === null
      ? { isolated: true, cost: unopenedCost(source, limits) }
      : placeSource(source, prepared, variant),
  ];
  for (const layer of layers) {
    if (layer !== null) parts.push(await placeLayer(layer, limits));
  }
  const cost = parts.map((part) => part.cost).reduce(addCosts);
  const isolated = parts.some((part) => part.isolated);
  return { placement: { isolated, cost: isLight(cost) ? null : cost }, prepared };
}

/** Examines a source and makes its plan. @throws ServiceError as `SourceFormat.examine` */
export async function prepare(
  container: Container,
  variant: Variant,
  limits: InspectionLimits,
): Promise<Prepared> {
  const { facts, file } = await container.format.examine(container, limits, variant);
  const area = croppedArea(facts, variant);
  return { facts, file, plan: makePlan(facts, area, variant, limits.sourceMaxPixels) };
}

function placeSource(
  { format, bytes }: Container,
  { facts, plan }: Prepared,
  variant: Variant,
): Part {
  if (facts.exceedsThread) return { isolated: true, cost: isolatedCost };
  const isolated =
    format.runsIn === 'process' ||
    (variant.gainMap && format.mayHaveGainMap?.(bytes) === true) ||
    !isDrawnOnThread(facts, plan, variant);
  return { isolated, cost: computeCost(facts, plan, variant) };
}

async function placeLayer(layer: Container, limits: InspectionLimits): Promise<Part> {
  const runsInProcess = layer.format.runsIn === 'process';
  try {
    if (isExaminedInProcess(layer)) return { isolated: true, cost: unopenedCost(layer, limits) };
    const { facts } = await layer.format.examine(layer, limits, plainVariant);
    if (facts.exceedsThread) return { isolated: true, cost: isolatedCost };
    return { isolated: runsInProcess || !isDecodedOnThread(facts), cost: decodingCost(facts) };
  } catch {
    return { isolated: runsInProcess, cost: { ms: 0, bytes: 0 } };
  }
}
