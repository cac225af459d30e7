import { createHmac, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../contract/errors.ts';
import { canonicalHost, hostMatches } from '../../contract/hosts.ts';
import type { Project } from '../../store/projects.ts';
import type { Address } from './address.ts';

/** Whether a project's allowlist has a URL's host; a trailing dot makes no difference. */
export function allows(project: Project, host: string): boolean {
  const canonical = canonicalHost(host);
  return canonical !== null && hostMatches(project.allowedOrigins, canonical);
}

/**
 * The text that is signed: the path and the query as they were sent, without the signature itself.
 */
export function signedText(path: string, query: string): string {
  const unsigned = query.split('&').filter((pair) => !pair.startsWith('sig='));
  return `${path}?${unsigned.join('&')}`;
}

/** base64url HMAC-SHA256. */
export function signature(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

/**
 * Checks that the project may use the source's host.
 * @throws ServiceError source_not_allowed
 */
export function checkSource(project: Project, { source }: Address): void {
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
  const expected = Buffer.from(signature(project.signingSecret ?? '', signedText(path, query)));
  const authentic =
    project.signingSecret !== null &&
    given.length === expected.length &&
    timingSafeEqual(given, expected);
  if (!authentic) throw refuse('The signature does not match the URL.');

  const expires = Number(exp) * 1_000;
  if (expires <= now) throw refuse('The signed URL has expired.');
  const ttl = project.signedUrlTtlSeconds;
  if (ttl !== null && expires > now + ttl * 1_000) {
    throw refuse(`exp must be at most ${ttl} seconds ahead.`);
  }
  return expires;
}
