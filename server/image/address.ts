import { ServiceError } from '../../contract/errors.ts';
import { nearestName, similarName } from '../../contract/suggestion.ts';
import { isPartName } from '../../store/project.ts';
import {
  type DialectName,
  hasTooManyParameters,
  maxParameters,
  type Size,
  type SourceDocument,
  type UrlClient,
  withBothSlashes,
} from '../../urls/src/index.ts';
import { words } from './layer-fields.ts';
import { isOverlayPart } from './overlays.ts';
import { type Parameter, type ParameterName, parameterNames, parameters } from './parameters.ts';
import { decodeSource, readSourceReference, type SourceReference } from './source-url.ts';
import type { ParameterType, ValueSchema } from './values.ts';

const invalid = (message: string) => new ServiceError('parameter_invalid', message);

/** The image or document that a URL requests once the source's size is known. */
export type SizedRequest =
  | SourceDocument
  | { readonly kind: 'image'; readonly parameters: ReadonlyMap<string, string> };

/** A URL requests an image, an image or document that depends on the source's size, or another path. */
type RequestTarget =
  | { readonly kind: 'image' }
  | {
      readonly kind: 'needsSize';
      /** @throws ServiceError parameter_invalid */
      readonly resolve: (size: Size, client: UrlClient) => SizedRequest;
    }
  | { readonly kind: 'redirect'; readonly location: string };

/** The project, source and parameters of a transform URL. */
interface AddressParts {
  readonly projectId: string;
  /** The delivery host with a path that names the source, or null for a path below `/img`. */
  readonly host: string | null;
  /** The language of another service's URL, or null for a native URL. */
  readonly dialect: DialectName | null;
  /** Whether client hints set the size. */
  readonly usesHints: boolean;
  readonly source: SourceReference;
  /** Whether the source was encoded, and so includes its complete query. */
  readonly isEncoded: boolean;
  /** Native parameters except `url` and `project`; of `needsSize` only `exp` and `v`. */
  readonly parameters: ReadonlyMap<string, string>;
  /** Unknown parameter names, except trackers'. */
  readonly unknown: readonly string[];
}

export type ImageAddress = AddressParts & RequestTarget;

export const imagePrefix = '/img/';

/** Returns whether every host treats the path as an image URL. */
export const isImagePath = (path: string): boolean =>
  path.startsWith(imagePrefix) || path === '/img';

/**
 * Reads `/img/<source_url>?project=…` and `/img/?url=…&project=…`.
 * @param hostProject the project of the requested delivery host, or null
 * @throws ServiceError source_missing, project_missing, source_invalid, parameter_invalid
 */
export function readAddress(
  path: string,
  query: string,
  hostProject: string | null = null,
): ImageAddress {
  const { parameters, unknown, url, project } = readQuery(query, hostProject);
  const written = sourceInPath(path) ?? url;
  const projectId = hostProject ?? project;
  if (written === '') throw new ServiceError('source_missing', 'The source URL is missing.');
  if (projectId === '') throw projectMissing(written, query);
  const isEncoded = !unencoded.test(path.slice(imagePrefix.length)) && !unencodedUrl.test(query);
  const source = readSourceReference(written);
  const native = { kind: 'image', host: null, dialect: null, usesHints: true } as const;
  return { ...native, projectId, source, isEncoded, parameters, unknown };
}

/** The start of an unencoded source, in the path and in the query. */
const unencoded = /^(?:https?:)?\//i;
const unencodedUrl = /(?:^|&)url=(?:https?:\/)?\//i;

/** @param source as written */
function projectMissing(source: string, query: string): ServiceError {
  const reason = /\?project=/.test(query)
    ? ' The URL has a second ?: encode the source URL, which has a query of its own.'
    : /[?&]project=/.test(source)
      ? ' It is a part of the source URL: encode only the source.'
      : '';
  return new ServiceError('project_missing', `The project parameter is missing.${reason}`);
}

type ValueOf<P> = P extends Parameter<infer T> ? T : never;

/** A query's options by canonical name. Absent options are undefined. */
export type Options = { readonly [N in ParameterName]?: ValueOf<(typeof parameters)[N]> };

/** Canonical names by every accepted name. */
const canonicalNames = new Map<string, ParameterName>(
  parameterNames.flatMap((name) =>
    [name, ...parameters[name].aliases].map((spelling) => [spelling, name] as const),
  ),
);

const parameterSpellings: readonly string[] = [...canonicalNames.keys()];

export const canonicalName = (spelling: string): ParameterName | undefined =>
  canonicalNames.get(spelling);

export const isParameter = (name: string): boolean => canonicalNames.has(name);

/** Returns whether a query can repeat a parameter. */
const isList = (name: string): boolean => {
  const canonical = canonicalNames.get(name);
  const type: ParameterType<unknown> | undefined = canonical && parameters[canonical];
  return type?.repeats !== undefined;
};

/** Returns the project in a query, even if the URL is invalid, or ''. */
export const projectInQuery = (query: string): string =>
  /(?:^|&)project=([^&]{1,60})/.exec(query)?.[1] ?? '';

/** Names that are not in the table of image parameters. */
const ownNames = new Set(['url', 'project', 'exp', 'sig']);
const knownNames = [...ownNames, ...parameterSpellings];

/** @throws ServiceError with the code if there are too many parameters */
export function parseQuery(
  query: string,
  code: 'parameter_invalid' | 'invalid_request' = 'parameter_invalid',
): URLSearchParams {
  if (!hasTooManyParameters(query)) return new URLSearchParams(query);
  throw new ServiceError(code, `The query has more than ${maxParameters} parameters.`);
}

/**
 * Rejects misspelt parameters, and repeated ones, because proxies, caches and the signature check
 * might each read a different value. Other unknown parameters can repeat.
 * @param hostProject as for `readAddress`
 */
export function readQuery(query: string, hostProject: string | null) {
  const parameters = new Map<string, string>();
  const unknown = new Set<string>();
  for (const [name, value] of parseQuery(query)) {
    const known =
      ownNames.has(name) || isParameter(name) || isLayerText(name) || isOverlayPart(name);
    const earlier = parameters.get(name);
    if (known && earlier !== undefined && !isList(name)) {
      throw invalid(`${name.slice(0, 60).toWellFormed()} is given more than once.`);
    }
    const near = known ? undefined : nearestName(name, knownNames);
    if (near !== undefined) throw invalid(`${name} is not a parameter. Did you mean ${near}?`);
    if (!known && name !== '' && !isTracking(name)) unknown.add(name);
    parameters.set(name, known && earlier !== undefined ? `${earlier},${value}` : value);
  }
  const url = parameters.get('url') ?? '';
  const project = parameters.get('project') ?? '';
  if (hostProject !== null && project !== '' && project !== hostProject) {
    throw invalid('The host belongs to another project.');
  }
  parameters.delete('url');
  parameters.delete('project');
  return { parameters, unknown: [...unknown], url, project };
}

/** @throws ServiceError parameter_invalid if the address contains unknown parameters */
export function requireKnown({ unknown: [name] }: ImageAddress): void {
  if (name === undefined) return;
  const similar = similarName(name, knownNames);
  const written = name.slice(0, maxNameLength).toWellFormed();
  const hint = similar === undefined ? '' : ` Did you mean ${similar}?`;
  throw invalid(`${written} is not a parameter.${hint}`);
}

/**
 * Returns the source in the path, or null. A source that starts with a scheme and a slash, or with
 * a slash, is unencoded. Any other source was encoded once, as a whole.
 * @throws ServiceError source_invalid
 */
export function sourceInPath(path: string): string | null {
  const text = path.slice(imagePrefix.length);
  if (text === '') return null;
  return unencoded.test(text) ? withBothSlashes(text) : decodeSource(text);
}

/**
 * Reads a query's options, ignoring unknown names.
 * @throws ServiceError parameter_invalid naming the parameter and the accepted values
 */
export function readOptions(query: ReadonlyMap<string, string>): Options {
  const options: Record<string, unknown> = {};
  for (const [spelling, text] of query) {
    const name = canonicalNames.get(spelling);
    if (name === undefined) continue;
    if (name in options) {
      throw invalid(`${name} is given more than once, including as ${spelling}.`);
    }
    const value = parameters[name].parse(text);
    if (value === undefined) {
      const { accepts, schema } = parameters[name];
      throw invalid(`${spelling} must be ${accepts}.${suggestWord(name, text, schema)}`);
    }
    options[name] = value;
  }
  return options as Options;
}

/** Other services' words for `fit`. */
const otherFits: Readonly<Record<string, string>> = {
  clip: 'inside',
  crop: 'cover',
  max: 'inside',
  pad: 'contain',
  scale: 'fill',
  'scale-down': 'inside',
};

/** Returns a question that names the word that a value probably stands for, or ''. */
function suggestWord(name: ParameterName, text: string, schema: ValueSchema): string {
  const words = (schema.anyOf ?? [schema]).flatMap((part) => part.enum ?? []);
  const other = name === 'fit' && Object.hasOwn(otherFits, text) ? otherFits[text] : undefined;
  const near = other ?? nearestName(text, words);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

const textPrefix = 'text.';

/** Returns whether a query name, such as `text.price`, sets a layer's text. */
const isLayerText = (name: string): boolean => name.startsWith(textPrefix);

/**
 * Reads layer texts from a query, by layer name.
 * @throws ServiceError parameter_invalid
 */
export function readLayerTexts(query: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [parameter, text] of query) {
    if (!isLayerText(parameter)) continue;
    const layer = parameter.slice(textPrefix.length);
    if (!isPartName(layer)) throw invalid('text. must be followed by the name of a layer.');
    const value = words.parse(text.replaceAll('\r\n', '\n'));
    if (value === undefined) throw invalid(`${parameter} must be ${words.accepts}.`);
    texts.set(layer, value);
  }
  return texts;
}

/**
 * Parameters that advertising, mailing and analytics tools append to page URLs, in lower case,
 * according to their documentation.
 */
const trackingNames: ReadonlySet<string> = new Set(
  `_ga _gac _gl _ke _openstat cjevent dclid dm_i ef_id epik fbclid gbraid gclid gclsrc igsh igshid irclickid
  li_fat_id mc_cid mc_eid mkt_tok msclkid rb_clickid rdt_cid s_kwcid sccid srsltid trk ttclid twclid wbraid wickedid
  yclid ysclid`.split(/\s+/),
);
const trackingPrefixes = ['utm_', 'mtm_', 'matomo_', 'pk_', 'gad_', 'hsa_', '_hs', '__hs', 'vero_'];

/** Returns whether a parameter belongs to a tracker. Trackers' users expect images to ignore it. */
export function isTracking(name: string): boolean {
  const lower = name.slice(0, 20).toLowerCase();
  return trackingNames.has(lower) || trackingPrefixes.some((prefix) => lower.startsWith(prefix));
}

/** Maximum names in a header, and maximum characters per name. */
const maxNames = 5;
const maxNameLength = 40;

/** A string of RFC 9651, 3.3.3, without characters that it would have to escape. */
const quoted = (name: string): string =>
  `"${name.slice(0, maxNameLength).replace(/[^ !#-[\]-~]/g, '?')}"`;

/** Returns the warnings on unknown parameters, as items of an RFC 9651 list, or ''. */
export function unknownWarnings(names: readonly string[]): string {
  const named = names.slice(0, maxNames).map((name) => `parameter_unknown;name=${quoted(name)}`);
  const others = names.length - named.length;
  return [...named, ...(others > 0 ? [`parameter_unknown;others=${others}`] : [])].join(', ');
}
