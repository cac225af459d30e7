import type { MemoryFiles } from '../formats/memory-files.ts';
import { readCopyright } from '../formats/metadata/copyright.ts';
import { keptMetadata } from '../formats/metadata/kept-metadata.ts';
import type {
  Container,
  InspectionLimits,
  InspectionResult,
  SourceFacts,
} from '../formats/source-format.ts';
import { withPixels } from '../geometry.ts';
import type { Variant } from '../variant.ts';
import { requireKeptGainMap } from './gain-map.ts';
import { Pipeline, type RenderLimits } from './pipeline.ts';
import { makePlan, type Plan, upright } from './plan.ts';
import type { StepContext } from './steps.ts';
import { croppedArea, findUsedArea } from './used-area.ts';

/** A transform's limits and resources. */
export interface Scope extends RenderLimits {
  readonly files: MemoryFiles;
}

/** A source or a layer's image whose header was read. */
export interface InspectedSource extends InspectionResult {
  /** The plan for the area before `trim`; absent for a layer's image, until its size is known. */
  readonly plan?: Plan;
}

/** A source or a layer's image, with the parameters of its steps. */
export interface OpenedImage extends InspectionResult {
  /** Reads the pixels when it is rendered. */
  readonly pipeline: Pipeline;
  readonly context: StepContext;
}

/** Examines a source and makes its plan. @throws ServiceError as `SourceFormat.examine` */
export async function inspect(
  container: Container,
  variant: Variant,
  limits: InspectionLimits,
): Promise<Required<InspectedSource>> {
  const { facts, file } = await container.format.examine(container, limits, variant);
  return { facts, file, plan: planUntrimmed(facts, variant, limits) };
}

function planUntrimmed(facts: SourceFacts, requested: Variant, limits: InspectionLimits): Plan {
  const variant = withPixels(requested, upright(facts));
  return makePlan(facts, croppedArea(facts, variant), variant, limits.sourceMaxPixels);
}

/**
 * Opens an image as its plan needs it. Decodes pixels only for `trim`, whose area changes the plan.
 *
 * @param inspected null if the image has not been inspected yet
 */
export async function openImage(
  container: Container,
  requested: Variant,
  scope: Scope,
  inspected: InspectedSource | null,
): Promise<OpenedImage> {
  const { facts, file, ...untrimmed } = inspected ?? (await inspect(container, requested, scope));
  const variant = withPixels(requested, upright(facts));
  const { hasMetadata, vector } = facts.format;
  const lenient = variant.lenient || container.isIncomplete;
  const metadata = variant.stripMetadata || !hasMetadata ? null : await keptMetadata(file);
  const copyright =
    variant.copyright && hasMetadata ? await readCopyright(file.bytes, file.format) : null;
  const openAt = async (scale: number | null, animated: boolean) => {
    const opened = { ...file, bytes: metadata?.source ?? file.bytes };
    const keepsMetadata = metadata !== null;
    const { files } = scope;
    return file.format.open({
      facts,
      file: opened,
      scale,
      animated,
      keepsMetadata,
      lenient,
      files,
    });
  };
  let { plan = planUntrimmed(facts, variant, scope) } = untrimmed;
  // Opens the source once for both passes of a trim, because some formats are decoded when opened.
  const isOpenedOnce = variant.trim !== null && !vector && !plan.animated;
  const stored = isOpenedOnce ? await openAt(null, false) : null;
  if (variant.trim !== null) {
    const open = async (scale: number | null) => {
      const source = stored ?? (await openAt(scale, false));
      return new Pipeline(source, facts, { animated: false, lenient }, scope);
    };
    const area = await findUsedArea(facts, variant, scope.sourceMaxPixels, open);
    plan = makePlan(facts, area, variant, scope.sourceMaxPixels);
  }
  requireKeptGainMap(facts, plan, variant);
  const keepsExif = metadata?.exif === 'kept' && !facts.colour.is16Bit;
  const ignoresProfile = plan.convertedFrom !== null;
  const opening = { animated: plan.animated, lenient, keepsExif, ignoresProfile };
  const source = (plan.scale === null ? stored : null) ?? (await openAt(plan.scale, plan.animated));
  return {
    facts,
    file,
    pipeline: new Pipeline(source, facts, opening, scope),
    context: { plan, variant, overlays: [], metadata, copyright },
  };
}
