import { ServiceError } from '../../contract/errors.ts';
import type { CacheResult, ImageRequest } from '../../pool/engine.ts';
import type { Size } from '../../pool/geometry.ts';
import { type Inputs, imageInputs, isInputFailure } from '../../pool/inputs.ts';
import { urlDigest } from '../../pool/source/fetch.ts';
import type { Variant } from '../../pool/variant.ts';
import type { Project } from '../../store/projects.ts';
import type { ProjectCache, ProjectState } from '../project-cache.ts';
import { requireProject } from '../request-errors.ts';
import type { ObservedRequest } from '../telemetry/image-telemetry.ts';
import { isAllowedHost } from './access.ts';
import type { DeliveryEnvironment } from './delivery-environment.ts';
import { combinedError, isReplaceable, withoutSourceArea } from './image-errors.ts';
import { imageFreshness, imageGeneration, variantKey } from './key.ts';
import { withoutFailed } from './layers.ts';
import { factsVariant, provisionalVariant, type ResolvedTransform } from './resolve-variant.ts';
import { sourceIdentity } from './source-url.ts';

export interface DeliveredImage {
  readonly result: CacheResult;
  /** The inputs of the requested image, even if the fallback replaces it. */
  readonly inputs: Inputs;
  /** False if a layer is missing: do not store the response. */
  readonly complete: boolean;
  /** The source's error if this is the fallback's image, else null. */
  readonly sourceError: ServiceError | null;
}

/** A source's facts, without an image of it. */
interface SourceFacts extends DeliveredImage {
  /** Of the upright source. */
  readonly size: Size;
}

/** A request with a valid project, source and signature. */
interface CheckedRequest {
  readonly project: Project;
  readonly source: URL;
  readonly background: boolean;
  readonly observed: ObservedRequest;
  readonly request: { readonly signal: AbortSignal };
}

/** An image of a source, which can be the fallback's. */
interface WantedImage {
  readonly source: URL;
  /** The source's version, or null. */
  readonly version: string | null;
  readonly variant: Variant;
}

/** Maximum attempts to render an image that purges keep invalidating. */
const maxPurgedRenders = 3;

/** @throws ServiceError project_not_found */
export async function confirmProject(projects: ProjectCache, id: string): Promise<ProjectState> {
  return requireProject(id, await projects.find(id));
}

export class ImageLookup {
  readonly #environment: DeliveryEnvironment;
  readonly #checked: CheckedRequest;

  constructor(environment: DeliveryEnvironment, checked: CheckedRequest) {
    this.#environment = environment;
    this.#checked = checked;
  }

  async getFacts(version: string | null): Promise<SourceFacts> {
    const wanted = { source: this.#checked.source, version, variant: factsVariant };
    const result = await this.#get(wanted);
    const { sourceSize: size } = result.image;
    if (size === undefined) throw new Error('facts without the size of their source');
    return { result, inputs: this.#inputs(wanted), complete: true, sourceError: null, size };
  }

  /** Returns the source's image, or the fallback's if the source fails. */
  async readOrRender({ version, variant, fallback }: ResolvedTransform): Promise<DeliveredImage> {
    const { source, background, observed, request } = this.#checked;
    const wanted = { source, version, variant };
    const inputs = this.#inputs(wanted);
    try {
      const { result, complete } = await this.#getOrWithoutLayers(wanted);
      return { result, complete, inputs, sourceError: null };
    } catch (error) {
      // Background work renders the source or fails.
      const mayReplace = fallback !== null && !background && !request.signal.aborted;
      if (!mayReplace || !isReplaceable(error)) throw error;
      const replacement = { ...wanted, source: fallback, variant: withoutSourceArea(variant) };
      try {
        const found = await this.#getOrWithoutLayers(replacement);
        observed.failed(error);
        return { ...found, inputs, sourceError: error };
      } catch (fallbackError) {
        throw combinedError(error, fallbackError);
      }
    }
  }

  async #getOrWithoutLayers(
    wanted: WantedImage,
  ): Promise<Pick<DeliveredImage, 'result' | 'complete'>> {
    try {
      return { result: await this.#get(wanted), complete: true };
    } catch (error) {
      const { project, background } = this.#checked;
      // Background work renders all layers or fails.
      if (!(error instanceof ServiceError) || background) throw error;
      const failed = withoutFailed(wanted.variant, error);
      if (failed === null) throw error;
      this.#environment.onLayerFailure(project._id, failed.layer, error);
      const { result } = await this.#getOrWithoutLayers({ ...wanted, variant: failed.rest });
      return { result, complete: false };
    }
  }

  /**
   * Returns an image from the caches or a render. Its source bytes are newer than every purge known
   * at the end. If purges keep arriving, the image of the last attempt can be older than the last
   * purge, which takes effect within two seconds; that image is not stored.
   */
  async #get(wanted: WantedImage): Promise<CacheResult> {
    const { engine, projects, autoFirst, admitRender, createLoaderFinder } = this.#environment;
    const { background, observed, request } = this.#checked;
    const { _id: project } = this.#checked.project;
    const latest = () => projects.latest(this.#checked.project);
    const inputs = this.#inputs(wanted);
    const { variant } = wanted;
    const first = background ? null : provisionalVariant(variant, autoFirst);
    for (let attempt = 1; attempt <= maxPurgedRenders; attempt += 1) {
      const known = await confirmProject(projects, project);
      const number = imageGeneration(known.project, inputs);
      const isCurrent = () => imageGeneration(latest(), inputs) === number;
      const toKey = (variant: Variant) =>
        variantKey({ project, inputs, generation: number }, variant);
      const image: ImageRequest = {
        project,
        inputs,
        variant,
        background,
        key: toKey(variant),
        generation: { number, isCurrent },
        freshness: imageFreshness(known.project, inputs),
        provisional: first && { key: toKey(first), variant: first },
        stages: observed,
        findLoader: createLoaderFinder(latest),
        admitRender: () => admitRender(latest()),
      };
      const result = await engine.get(image, request.signal).catch((error: unknown) => {
        const [{ url, identity }] = inputs;
        // The error can be that of another signature, with which an equal request started the work.
        if (url === identity || !isInputFailure(error)) throw error;
        return engine.get({ ...image, flight: `${image.key} ${urlDigest(url)}` }, request.signal);
      });
      // Confirming the project reveals purges and deletions that happened during the render.
      await confirmProject(projects, project);
      if (isCurrent()) {
        if (result.isProvisional) this.#renderInBackground(image);
        return result;
      }
      if (attempt === maxPurgedRenders && projects.wasCurrent(known)) return result;
    }
    throw new ServiceError(
      'overloaded',
      'The image was purged several times while it was rendered.',
    );
  }

  #inputs({ source, version, variant }: WantedImage): Inputs {
    const { project } = this.#checked;
    return imageInputs(
      source,
      version,
      variant,
      (host) => isAllowedHost(project, host),
      (url) => sourceIdentity(url, project.freshness),
    );
  }

  /** Renders the final image while the client gets a provisional one. */
  #renderInBackground(image: ImageRequest): void {
    const stages = this.#checked.observed.later();
    const rendered = this.#environment.engine.renderInBackground({ ...image, stages });
    // A later request retries it.
    rendered.catch((error) => stages.failed(error));
  }
}
