import { ServiceError } from '../../contract/errors.ts';
import type { Project } from '../../store/projects.ts';
import type { Options } from './address.ts';
import { isOverlayPart } from './overlays.ts';
import { type ParameterName, parameters } from './parameters.ts';

/** The options of a URL, and its texts by layer name. */
interface GivenOptions {
  readonly options: Options;
  readonly texts: ReadonlyMap<string, string>;
  /** As sent; absent if no URL sent them. */
  readonly parameters?: ReadonlyMap<string, string>;
}

const invalid = (message: string) => new ServiceError('parameter_invalid', message);

/** Returns the listed number that is nearest to a value; of two, the first. */
const findNearest = (list: readonly number[], value: number): number =>
  list.reduce((best, next) => (Math.abs(next - value) < Math.abs(best - value) ? next : best));

/**
 * Applies a project's limits to the options of a URL. The options of its presets are always allowed.
 *
 * @param given the URL's own options and texts
 * @param options including the preset's
 * @param ratio device pixels per CSS pixel
 * @param isTrusted whether the project vouches for the URL
 * @throws ServiceError parameter_invalid naming the parameter and the allowed values
 */
export function limitOptions(
  { options: given, texts, parameters: sent = new Map() }: GivenOptions,
  options: Options,
  { limits }: Pick<Project, 'limits'>,
  ratio: number,
  isTrusted: boolean,
): Options {
  if (limits === undefined) return options;
  const { onlyPresets = false, widths = null, qualities = null, unlisted } = limits;
  if (onlyPresets) {
    const listed = [...(widths ? ['w'] : []), ...(qualities ? ['q'] : [])];
    const refused = (Object.keys(given) as ParameterName[]).find(
      (name) => !parameters[name].isBesidePresets && !listed.includes(name),
    );
    const text = isTrusted ? undefined : texts.keys().next().value;
    const part = [...sent.keys()].find(isOverlayPart);
    const name = refused ?? part ?? (text === undefined ? undefined : `text.${text}`);
    const names = ['preset', ...listed].join(', ');
    if (name !== undefined)
      throw invalid(`${name} is not allowed: the project allows only ${names}.`);
    if (given.preset === undefined) throw invalid('preset is missing: the project requires one.');
  }
  /** @param isFixed whether the URL alone determines the value */
  const limit = (name: string, list: readonly number[], value: number, isFixed = true): number => {
    if (list.includes(value)) return value;
    if (unlisted !== 'refuse' || !isFixed) return findNearest(list, value);
    throw invalid(`${name} must be one of ${list.join(', ')}: the project allows no other value.`);
  };
  const { h } = options;
  const { w, minw, q } = given;
  const limited = { ...options };
  if (qualities !== null && typeof q === 'number') limited.q = limit('q', qualities, q);
  if (widths === null) return limited;
  const toListed = (name: string, width: number): number =>
    limit(`${name} x dpr`, widths, Math.round(width * ratio), options.dpr !== 'auto') / ratio;
  if (minw !== undefined) limited.minw = toListed('minw', minw);
  if (typeof w === 'object') {
    throw invalid('w must be a number: the project does not allow percentages.');
  }
  if (w !== undefined) {
    limited.w = toListed('w', w);
    // Both sides keep their ratio.
    if (typeof h === 'number') limited.h = (h * limited.w) / w;
  }
  return limited;
}
