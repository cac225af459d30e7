import { type FontFamily, fontFamilies, packagedFamily } from '../../pool/rendering/text/fonts.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { isLayerName } from '../../store/layer.ts';
import type { PresetValue } from '../../store/preset.ts';
import type { Project, Projects } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { findLayer } from '../image/layers.ts';
import { requireProject } from '../project-cache.ts';
import { privateHostError } from './hosts-and-urls.ts';
import { layerErrors } from './layer-input.ts';
import { rejectInvalid } from './project-resource.ts';
import type { Layer, LayerInput } from './schemas.ts';

/** Bounded, because all layers are in memory with their project. */
const maxLayers = 50;

export interface LayersEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setLayer' | 'removeLayer'>;
  readonly guard: AddressGuard;
  /** The operator's folder; null for none. */
  readonly fonts: string | null;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

/** The layers of a project: a part of it in the store, resources of their own for clients. */
export class LayerResource {
  readonly #environment: LayersEnvironment;
  /** With the families of the operator's folder; null until a layer names one of them. */
  #families: readonly FontFamily[] | null = null;

  constructor(environment: LayersEnvironment) {
    this.#environment = environment;
  }

  async list(projectId: string): Promise<Layer[]> {
    return layersOf(await this.#find(projectId));
  }

  async find(projectId: string, name: string): Promise<Layer> {
    return layerBody(await this.#find(projectId), name);
  }

  /** Creates or replaces a layer. */
  async put(projectId: string, name: string, layer: LayerInput): Promise<Layer> {
    requireLayerName(name);
    rejectInvalid(layerErrors(layer));
    const project = await this.#find(projectId);
    await this.#checkFont(layer.text?.['font']);
    this.#checkSource(project, 'image.url', layer.image?.['url']);
    this.#checkSource(project, 'text.fontUrl', layer.text?.['fontUrl']);
    const names = Object.keys(project.layers ?? {});
    // Concurrent calls may exceed the limit by a few, which does no harm.
    if (names.length >= maxLayers && !names.includes(name)) {
      rejectInvalid([`a project must not have more than ${maxLayers} layers`]);
    }
    const changed = await this.#environment.projects.setLayer(projectId, name, layer);
    return layerBody(this.#changed(projectId, changed), name);
  }

  /** Deletes a layer. @returns the remaining layers */
  async remove(projectId: string, name: string): Promise<Layer[]> {
    requireLayerName(name);
    const project = await this.#find(projectId);
    if (!Object.hasOwn(project.layers ?? {}, name)) return layersOf(project);
    const changed = await this.#environment.projects.removeLayer(projectId, name);
    return layersOf(this.#changed(projectId, changed));
  }

  async #checkFont(family: PresetValue | undefined): Promise<void> {
    if (family === undefined || family === packagedFamily.name) return;
    const { fonts } = this.#environment;
    // The operator's fonts are read once: they are fixed from the start, and WOFF2 takes time to unpack.
    if (fonts !== null) this.#families ??= await fontFamilies(fonts);
    const names = (this.#families ?? [packagedFamily]).map(({ name }) => name);
    if (!names.includes(String(family))) {
      rejectInvalid([`text.font must be one of the fonts of the service: ${names.join(', ')}`]);
    }
  }

  #checkSource(project: Project, field: string, value: PresetValue | undefined): void {
    if (value === undefined) return;
    const url = new URL(String(value));
    if (!allows(project, url.hostname)) rejectInvalid([`${field} must be on an allowed host`]);
    const hostError = privateHostError(url, this.#environment.guard);
    if (hostError !== null) rejectInvalid([`${field} ${hostError}`]);
  }

  async #find(projectId: string): Promise<Project> {
    return requireProject(projectId, await this.#environment.projects.find(projectId));
  }

  #changed(projectId: string, project: Project | null): Project {
    const changed = requireProject(projectId, project);
    this.#environment.onChange(changed);
    return changed;
  }
}

function requireLayerName(name: string): void {
  if (isLayerName(name)) return;
  rejectInvalid([
    'the name of a layer must begin with a lower-case letter, and have at most 40 lower-case letters, digits, - and _',
  ]);
}

const layerBody = (project: Project, name: string): Layer => ({
  name,
  ...findLayer(project, name),
});

/** By name. */
const layersOf = (project: Project): Layer[] =>
  Object.keys(project.layers ?? {})
    .sort()
    .map((name) => layerBody(project, name));
