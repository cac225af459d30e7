import { type FontFamily, fontFamilies, packagedFamily } from '../../pool/rendering/text/fonts.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import type { PresetValue } from '../../store/preset.ts';
import type { Project, Projects } from '../../store/projects.ts';
import { allows } from '../image/access.ts';
import { findLayer } from '../image/layers.ts';
import { privateHostError } from './hosts-and-urls.ts';
import { rejectInvalid } from './invalid.ts';
import { layerErrors } from './layer-input.ts';
import { NamedResource, type NamedResourceEnvironment } from './named-resource.ts';
import { requirePartName } from './preset-resource.ts';
import type { Layer, LayerInput } from './schemas.ts';

export type LayerResource = NamedResource<LayerInput, Layer>;

export interface LayersEnvironment extends NamedResourceEnvironment {
  readonly projects: Pick<Projects, 'find' | 'setLayer' | 'removeLayer'>;
  readonly guard: AddressGuard;
  /** The operator's folder; null for none. */
  readonly fonts: string | null;
}

/** The layers of projects. */
export function layerResource(environment: LayersEnvironment): LayerResource {
  const { projects, guard, fonts } = environment;
  const checkFont = fontCheck(fonts);
  return new NamedResource(environment, {
    plural: 'layers',
    limit: 50,
    readName: (text) => requirePartName('layer', text),
    checkInput: async (layer) => {
      rejectInvalid(layerErrors(layer));
      await checkFont(layer.text?.['font']);
    },
    checkForProject: (project, { image, text }) => {
      checkSource(guard, project, 'image.url', image?.['url']);
      checkSource(guard, project, 'text.fontUrl', text?.['fontUrl']);
    },
    set: (projectId, name, layer) => projects.setLayer(projectId, name, layer),
    unset: (projectId, name) => projects.removeLayer(projectId, name),
    names: ({ layers = {} }) => Object.keys(layers),
    find: (project, name) => ({ name, ...findLayer(project, name) }),
  });
}

/** @returns a function that rejects with invalid_request for a family that is not there */
function fontCheck(folder: string | null): (family: PresetValue | undefined) => Promise<void> {
  /** With the families of the operator's folder; null until a layer names one of them. */
  let families: readonly FontFamily[] | null = null;
  return async (family) => {
    if (family === undefined || family === packagedFamily.name) return;
    // The operator's fonts are read once: they are fixed from the start, and WOFF2 takes time to unpack.
    if (folder !== null) families ??= await fontFamilies(folder);
    const names = (families ?? [packagedFamily]).map(({ name }) => name);
    if (!names.includes(String(family))) {
      rejectInvalid([`text.font must be one of the fonts of the service: ${names.join(', ')}`]);
    }
  };
}

function checkSource(
  guard: AddressGuard,
  project: Project,
  field: string,
  value: PresetValue | undefined,
): void {
  if (value === undefined) return;
  const url = new URL(String(value));
  if (!allows(project, url.hostname)) rejectInvalid([`${field} must be on an allowed host`]);
  const hostError = privateHostError(url, guard);
  if (hostError !== null) rejectInvalid([`${field} ${hostError}`]);
}
