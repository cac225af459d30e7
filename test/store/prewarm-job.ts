import type { PrewarmJob } from '../../store/waiting-jobs.ts';

/** Returns a single-variant job with changed fields. */
export const prewarmJob = (changes: Partial<PrewarmJob> = {}): PrewarmJob => ({
  projectId: 'prj_0123456789abcdef',
  source: 'https://a.example/1',
  variants: ['fmt=webp&w=100'],
  ...changes,
});
