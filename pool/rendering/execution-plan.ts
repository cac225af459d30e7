import { isExaminedInProcess } from '../formats/isolation.ts';
import type { Container, InspectionLimits } from '../formats/source-format.ts';
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
import { isSvgOutput } from './encode/svg/output.ts';
import { type InspectedSource, inspect } from './open-image.ts';

/** Where a transform runs, and whether it waits for a heavy transform's turn. */
export interface ExecutionPlan {
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

interface PlannedExecution {
  readonly plan: ExecutionPlan;
  /** Null if a thread must not inspect the source. */
  readonly inspected: InspectedSource | null;
}

/**
 * Decides from the headers of a source and its layers where a transform runs, before decoding
 * anything.
 *
 * @throws ServiceError of the source, like `inspect`; a layer's error is thrown when the layer is
 *   drawn
 */
export async function planExecution(
  { source, layers }: OpenedInputs,
  variant: Variant,
  limits: InspectionLimits,
): Promise<PlannedExecution> {
  // Threads lack fonts, and the time for drawing letters and for sanitising is unpredictable.
  if (hasText(variant) || isSvgOutput(source, variant)) {
    return { plan: { isolated: true, cost: isolatedCost }, inspected: null };
  }
  const inspected = isExaminedInProcess(source) ? null : await inspect(source, variant, limits);
  const parts: Part[] = [
    inspected === null
      ? { isolated: true, cost: unopenedCost(source, limits) }
      : planSource(source, inspected, variant),
  ];
  for (const layer of layers) {
    if (layer !== null) parts.push(await planLayer(layer, limits));
  }
  const cost = parts.map((part) => part.cost).reduce(addCosts);
  const isolated = parts.some((part) => part.isolated);
  return { plan: { isolated, cost: isLight(cost) ? null : cost }, inspected };
}

function planSource(
  { format, bytes }: Container,
  { facts, plan }: InspectedSource,
  variant: Variant,
): Part {
  if (facts.exceedsThread) return { isolated: true, cost: isolatedCost };
  const isolated =
    format.runsIn === 'process' ||
    (variant.gainMap && format.mayHaveGainMap?.(bytes) === true) ||
    !isDrawnOnThread(facts, plan, variant);
  return { isolated, cost: computeCost(facts, plan, variant) };
}

async function planLayer(layer: Container, limits: InspectionLimits): Promise<Part> {
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
