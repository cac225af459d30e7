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
  const widths = job.widths.length === 0 ? [null] : job.widths;
  return widths.flatMap((width) =>
    job.formats.flatMap((format) => {
      const target = targetOf(job, width, format);
      const size = width === null ? 'own width' : `w=${width}`;
      return format === 'auto'
        ? autoAccepts.map(([label, accept]) => ({ target, accept, label: `${size} ${label}` }))
        : [{ target, accept: '*/*', label: `${size} ${format}` }];
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
