import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import { maxFramePixels, maxSide } from '../../pool/bounds.ts';
import type { Project } from '../../store/projects.ts';
import {
  type DialectName,
  dialects,
  isAuthentic,
  type NativeQuery,
  translate,
  UrlError,
  type UrlHost,
} from '../../urls/src/index.ts';
import {
  type ImageAddress,
  isImagePath,
  isTracking,
  readAddress,
  readQuery,
  type SizedRequest,
} from './address.ts';
import { type Parameter, parameters } from './parameters.ts';
import { isForeign, resolveSourcePath, type Site } from './site.ts';
import { readSource } from './source-url.ts';

/** The values of a host's `urls`, where `native` stands for this service's own URLs. */
export const urlKinds = ['native', ...(Object.keys(dialects) as DialectName[])] as const;

/** Reads an image URL. @param site the requested delivery host, or null. @throws as `readAddress` */
export const readRequestAddress = (path: string, query: string, site: Site | null): ImageAddress =>
  site === null ? readAddress(path, query) : readHostAddress(path, query, site);

/**
 * Reads a delivery host's URL: `/products/coast.jpg?w=800`, with a source path relative to the
 * host's base, another service's URL, or `/img/…` as on other hosts, for the host's project.
 * @throws ServiceError as `readAddress`
 */
function readHostAddress(path: string, query: string, site: Site): ImageAddress {
  const { _id: projectId } = site.project;
  if (isImagePath(path)) return readAddress(path, query, projectId);
  const own = { projectId, host: site.host.host, isEncoded: true } as const;
  if (isForeign(site)) return { ...own, ...readForeign(findDialect(site), path, query, site) };
  const { parameters, unknown } = readQuery(query, projectId);
  const source = resolveSourcePath(site, path);
  return { ...own, kind: 'image', dialect: null, source, parameters, unknown, usesHints: true };
}

/** A later release might have stored other kinds. */
function findDialect({ host: { urls = '' } }: Site): DialectName {
  if (Object.hasOwn(dialects, urls)) return urls as DialectName;
  throw new ServiceError(
    'source_invalid',
    `This release does not support the host's URLs: ${urls}.`,
  );
}

function readForeign(dialect: DialectName, path: string, query: string, site: Site) {
  const translation = withServiceErrors(dialect, () =>
    translate(dialect, path, query, toUrlHost(site)),
  );
  const { source, ignored, usesHints = false } = translation;
  const read = {
    dialect,
    source: 'url' in source ? readSource(source.url) : resolveSourcePath(site, source.path),
    unknown: ignored.filter((name) => name !== '' && !isTracking(name)),
    usesHints,
  };
  switch (translation.kind) {
    case 'image': {
      const { kind } = translation;
      return { ...read, kind, parameters: toParameters(translation.query) };
    }
    case 'redirect': {
      const { kind, location } = translation;
      return { ...read, kind, location, parameters: new Map<string, string>() };
    }
    case 'needsSize': {
      const { kind, resolve } = translation;
      const { exp, v } = Object.fromEntries(toParameters(translation.query));
      const fixed = Object.entries({ exp, v }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      const resolveRequest: (...args: Parameters<typeof resolve>) => SizedRequest = (...args) => {
        const sized = withServiceErrors(dialect, () => resolve(...args));
        if (sized.kind === 'document') return sized;
        return { kind: 'image', parameters: toParameters(sized.query) };
      };
      return { ...read, kind, parameters: new Map(fixed), resolve: resolveRequest };
    }
  }
}

const toUrlHost = ({ project, host }: Site): UrlHost => ({
  base: host.base ?? project.origin,
  isAllowedHost: (name) => {
    const canonical = canonicalHost(name);
    return canonical !== null && hostMatches(project.allowedOrigins, canonical);
  },
  presets: project.presets ?? {},
  stripMetadata: project.stripMetadata,
  maxSide: Math.min(maxSide, project.maxWidth ?? maxSide),
  maxArea: maxFramePixels,
});

/** @throws ServiceError parameter_invalid naming the URL's option */
function toParameters(query: NativeQuery): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const table: Readonly<Record<string, Parameter<unknown>>> = parameters;
  for (const [name, { text, option }] of query) {
    const parameter = table[name];
    if (parameter !== undefined && parameter.parse(text) === undefined) {
      throw new ServiceError('parameter_invalid', `${option} must be ${parameter.accepts}.`);
    }
    texts.set(name, text);
  }
  return texts;
}

/** @param urls the language that is read */
function withServiceErrors<T>(urls: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    // The hints of the codes are about native URLs.
    const hint = `Change the URL as the message says. image-delivery explain --urls ${urls} lists what it cannot translate.`;
    throw new ServiceError(error.code, error.message, undefined, { hint });
  }
}

/**
 * Checks the signature in another service's URL. Refuses wrong signatures even if the project does
 * not require signatures.
 * @param expires Unix ms; infinite if the URL does not expire
 * @returns whether the URL carries a checked signature
 * @throws ServiceError signature_invalid
 */
export function checkForeignSignature(
  dialect: DialectName,
  project: Project,
  path: string,
  query: string,
  expires: number,
  now: number,
): boolean {
  const { title, ...reader } = dialects[dialect];
  const refuse = (why: string): ServiceError => new ServiceError('signature_invalid', why);
  const secrets = project.urlSecrets?.[dialect]?.valid ?? [];
  const authentic = isAuthentic(dialect, path, query, secrets);
  if (authentic === false && secrets.length > 0) {
    throw refuse('The signature does not match the URL.');
  }
  if (expires <= now) throw refuse('The URL has expired.');
  if (!project.requireSignedUrls) return authentic === true;
  if (!('readSignature' in reader)) throw refuse(`URLs of ${title} have no signature.`);
  if (secrets.length === 0) throw refuse(`The project has no secret for URLs of ${title}.`);
  if (authentic === null) throw refuse('This project needs signed URLs.');
  const ttl = project.signedUrlTtlSeconds;
  if (ttl !== null && expires > now + ttl * 1_000) {
    throw refuse(`The URL must expire within ${ttl} seconds, as the project requires.`);
  }
  return true;
}
