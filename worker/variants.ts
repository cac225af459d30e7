import { defaultAutoFormats, type NegotiableFormat } from '../contract/image-terms.ts';
import type { PrewarmJob } from '../store/jobs.ts';

export interface PrewarmRequest {
  /** Path and query. */
  readonly target: string;
  readonly accept: string;
  /** Names the variant in messages. */
  readonly label: string;
}

const mediaTypes: Readonly<Record<NegotiableFormat, string>> = {
  jxl: 'image/jxl',
  avif: 'image/avif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
};

/**
 * Returns an Accept header for each kind of client that `auto` distinguishes: each client accepts
 * its best format and all less preferred formats.
 *
 * @param formats that `auto` can select, best first
 */
const autoAccepts = (formats: readonly NegotiableFormat[]): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...formats.map((best, index) => {
      const types = formats.slice(index).map((format) => mediaTypes[format]);
      return [`auto/${best}`, [...types, '*/*'].join()];
    }),
    ['auto/plain', '*/*'],
  ]);

/**
 * The requests that warm a job's variants, with the URLs that clients use.
 *
 * @param autoFormats of the service
 */
export function prewarmRequests(
  job: PrewarmJob,
  autoFormats: readonly NegotiableFormat[] = defaultAutoFormats,
): PrewarmRequest[] {
  const accepts = Object.entries(autoAccepts(autoFormats));
  return job.variants.flatMap((query) => {
    const target = toTarget(job, query);
    const { size, format } = readNames(query);
    return format === 'auto'
      ? accepts.map(([label, accept]) => ({ target, accept, label: `${size} ${label}` }))
      : [{ target, accept: '*/*', label: `${size} ${format}` }];
  });
}

/** The parameters that name a variant in messages; other parameters can contain secrets. */
const namingParameters = ['preset', 'w', 'h'];

function readNames(query: string): { readonly size: string; readonly format: string } {
  const parameters = new URLSearchParams(query);
  const given = namingParameters.filter((name) => parameters.has(name));
  const size = given.map((name) => `${name}=${parameters.get(name)}`).join(' ') || 'own width';
  // Without a format, the preset and the project decide whether it is `auto`.
  return { size, format: parameters.get('fmt')?.toLowerCase() ?? 'auto' };
}

const toTarget = ({ source, projectId }: PrewarmJob, query: string): string =>
  `/img/${encodeURIComponent(source)}?project=${encodeURIComponent(projectId)}${query && `&${query}`}`;
