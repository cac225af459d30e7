import { createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import type { Project } from '../../store/projects.ts';
import { type Address, imagePrefix, sourceInPath } from './address.ts';

/** Whether a project's allowlist has a URL's host; a trailing dot makes no difference. */
export function allows(project: Project, host: string): boolean {
  const canonical = canonicalHost(host);
  return canonical !== null && hostMatches(project.allowedOrigins, canonical);
}

const withoutSignature = (query: string): string =>
  query
    .split('&')
    .filter((pair) => !pair.startsWith('sig='))
    .join('&');

/**
 * The text that is signed: the path from `/img` on and the query as they were sent, without the
 * signature itself.
 */
export const signedText = (path: string, query: string): string =>
  `${path}?${withoutSignature(query)}`;

/** No client sends a longer path, in characters: a head has room for 16 KB. */
const maxSignedPath = 16_384;

/** Characters that encodeURIComponent leaves and other languages encode (RFC 3986, 2.2). */
const reserved = /[!'()*]/g;
const percentEncoded = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The paths that a client may have signed when a request comes with this path, which a proxy may have
 * changed: it turns `//` into `/`, or decodes a source that was encoded as a whole. All of them name
 * the same source, so a signature of one is as good as one of another.
 */
function signedPaths(path: string): string[] {
  const source = sourceInPath(path);
  if (source === null) return [path];
  const encoded = encodeURIComponent(source);
  const written = [encoded, encoded.replace(reserved, percentEncoded)];
  // Written directly, a source with these would not be the same source.
  if (!/[?#]/.test(source)) written.push(source);
  const sent = written.map((one) => imagePrefix + one).filter((one) => one.length <= maxSignedPath);
  return [...new Set([path, ...sent])];
}

/** base64url HMAC-SHA256. */
export function signature(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/** The secrets whose signatures are valid: two during a rotation. */
function secretsOf({ signingSecret, previousSigningSecret }: Project): string[] {
  return [signingSecret, previousSigningSecret].filter((secret) => typeof secret === 'string');
}

/**
 * Checks that the project may use a source's host.
 * @throws ServiceError source_not_allowed
 */
export function checkSource(project: Project, source: URL): void {
  if (allows(project, source.hostname)) return;
  throw new ServiceError(
    'source_not_allowed',
    `The host ${source.hostname} is not on the project's allowlist.`,
  );
}

/**
 * Checks the URL's signature if the project requires one, and returns when the URL expires (Unix ms;
 * infinite when the project does not require signatures).
 * @throws ServiceError signature_invalid
 */
export function checkSignature(
  project: Project,
  { parameters }: Address,
  path: string,
  query: string,
  now: number,
): number {
  if (!project.requireSignedUrls) return Number.POSITIVE_INFINITY;
  const refuse = (why: string): ServiceError => new ServiceError('signature_invalid', why);
  const exp = parameters.get('exp') ?? '';
  const given = Buffer.from(parameters.get('sig') ?? '');
  if (given.length === 0 || !/^\d{1,12}$/.test(exp)) {
    throw refuse('This project needs signed URLs, with exp and sig.');
  }
  const unsigned = withoutSignature(query);
  const texts = signedPaths(path).map((one) => `${one}?${unsigned}`);
  const authentic = secretsOf(project).some((secret) =>
    texts.some((text) => {
      const expected = Buffer.from(signature(secret, text));
      return given.length === expected.length && timingSafeEqual(given, expected);
    }),
  );
  if (!authentic) throw refuse('The signature does not match the URL.');

  const expires = Number(exp) * 1_000;
  if (expires <= now) throw refuse('The signed URL has expired.');
  const ttl = project.signedUrlTtlSeconds;
  if (ttl !== null && expires > now + ttl * 1_000) {
    throw refuse(`exp must be at most ${ttl} seconds ahead.`);
  }
  return expires;
}
