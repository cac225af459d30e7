import type { PrewarmJob } from '../store/jobs.ts';

/** One request that warms one answer. */
export interface WarmRequest {
  /** Path and query. */
  readonly target: string;
  readonly accept: string;
  /** For people: what is warmed. */
  readonly label: string;
}

/** What the three kinds of client that `auto` tells apart send. */
const autoAccepts = [
  ['auto/avif', 'image/avif,image/webp,*/*'],
  ['auto/webp', 'image/webp,*/*'],
  ['auto/plain', '*/*'],
] as const;

/** The requests that warm a job's variants: the service's own URLs, as a client would ask for them. */
export function warmRequests(job: PrewarmJob): WarmRequest[] {
  const widths = job.widths.length === 0 ? [null] : job.widths;
  return widths.flatMap((width) =>
    job.formats.flatMap((format) => {
      const target = targetOf(job, width, format);
      const what = width === null ? 'own width' : `w=${width}`;
      return format === 'auto'
        ? autoAccepts.map(([label, accept]) => ({ target, accept, label: `${what} ${label}` }))
        : [{ target, accept: '*/*', label: `${what} ${format}` }];
    }),
  );
}

function targetOf(job: PrewarmJob, width: number | null, format: string): string {
  const query = new URLSearchParams({ project: job.projectId });
  const add = (name: string, value: number | string | null) => {
    if (value !== null) query.set(name, String(value));
  };
  add('w', width);
  add('fmt', format);
  add('q', job.quality);
  add('fit', job.fit);
  add('dpr', job.dpr);
  return `/img/${encodeURIComponent(job.source)}?${query}`;
}
