import type { PrewarmJob } from '../store/jobs.ts';

/** A request that warms one variant. */
export interface WarmRequest {
  /** Path and query. */
  readonly target: string;
  readonly accept: string;
  /** Names the variant in messages. */
  readonly label: string;
}

/** The three kinds of clients that `auto` distinguishes. */
const autoAccepts = [
  ['auto/avif', 'image/avif,image/webp,*/*'],
  ['auto/webp', 'image/webp,*/*'],
  ['auto/plain', '*/*'],
] as const;

/** The requests that warm a job's variants, with the URLs that clients use. */
export function warmRequests(job: PrewarmJob): WarmRequest[] {
  if (job.variants !== undefined)
    return job.variants.flatMap((query) => variantRequests(job, query));
  const widths = job.widths.length === 0 ? [null] : job.widths;
  return widths.flatMap((width) =>
    job.formats.flatMap((format) => {
      const size = width === null ? 'own width' : `w=${width}`;
      return requestsOf(targetOf(job, queryOf(job, width, format)), size, format);
    }),
  );
}

/** The parameters that name a variant in messages; others may have a secret. */
const namingParameters = ['preset', 'w', 'h'];

function variantRequests(job: PrewarmJob, query: string): WarmRequest[] {
  const parameters = new URLSearchParams(query);
  const given = namingParameters.filter((name) => parameters.has(name));
  const size = given.map((name) => `${name}=${parameters.get(name)}`).join(' ') || 'own width';
  // Without a format, the preset and the project decide whether it is `auto`.
  return requestsOf(targetOf(job, query), size, parameters.get('fmt')?.toLowerCase() ?? 'auto');
}

function requestsOf(target: string, size: string, format: string): WarmRequest[] {
  return format === 'auto'
    ? autoAccepts.map(([label, accept]) => ({ target, accept, label: `${size} ${label}` }))
    : [{ target, accept: '*/*', label: `${size} ${format}` }];
}

function queryOf({ quality, fit, dpr }: PrewarmJob, width: number | null, format: string): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ w: width, fmt: format, q: quality, fit, dpr })) {
    if (value !== null) query.set(name, String(value));
  }
  return query.toString();
}

const targetOf = ({ source, projectId }: PrewarmJob, query: string): string =>
  `/img/${encodeURIComponent(source)}?project=${encodeURIComponent(projectId)}${query && `&${query}`}`;
