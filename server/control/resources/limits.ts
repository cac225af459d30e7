import type { Project } from '../../../store/projects.ts';
import { itemResult, operation } from '../operation.ts';
import { type BodyOf, closed, named } from '../schema.ts';
import { changed, findProject } from '../services.ts';

const limit = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

const limits = named(
  'Limits',
  {
    description: "A project's maximum usage per day (UTC); null for no limit.",
    ...closed({
      rendersPerDay: {
        ...limit,
        description: 'Renders, including prewarming.',
        examples: [10_000],
      },
      bytesPerDay: {
        ...limit,
        description: 'Bytes of delivered images.',
        examples: [5_000_000_000],
      },
    }),
  },
  { rendersPerDay: 10_000, bytesPerDay: null },
);

const limitsBody = ({ limits: set }: Project): BodyOf<typeof limits> =>
  set ?? { rendersPerDay: null, bytesPerDay: null };

export const limitOperations = {
  getProjectLimits: operation({
    method: 'GET',
    path: '/projects/{projectId}/limits',
    summary: 'Read the daily limits',
    description: 'Returns the daily limits; null means no limit.',
    result: itemResult('limits', limits),
    handle: async ({ path }, services) => limitsBody(await findProject(services, path.projectId)),
  }),
  putProjectLimits: operation({
    method: 'PUT',
    path: '/projects/{projectId}/limits',
    summary: 'Set the daily limits',
    description:
      'Requires a root key. Above a limit, requests that need a render get 429 `usage_limit_reached` until the next day (UTC); cached images are still delivered. Each additional process can exceed the render limit by one render or 1% of the limit, whichever is more.',
    scope: 'root',
    input: { ...limits, name: 'LimitsInput' },
    result: itemResult('limits', limits),
    handle: async ({ path: { projectId }, input }, services) =>
      limitsBody(changed(services, projectId, await services.projects.setLimits(projectId, input))),
  }),
};
