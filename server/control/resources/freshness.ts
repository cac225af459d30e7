import type { Project } from '../../../store/projects.ts';
import { itemResult, operation } from '../operation.ts';
import { type BodyOf, closed, named } from '../schema.ts';
import { changed, findProject } from '../services.ts';

const maxAgeSeconds = 31_536_000;

const freshness = named(
  'Freshness',
  {
    description: "How a project's images follow their sources. Ages are in seconds.",
    ...closed({
      sourceAge: {
        allOf: [
          {
            anyOf: [
              { type: 'integer', minimum: 1, maximum: maxAgeSeconds },
              { type: 'string', enum: ['origin'] },
              { type: 'null' },
            ],
            'x-rule': `must be a whole number from 1 to ${maxAgeSeconds}, "origin" or null`,
          },
        ],
        description:
          "Seconds until the service revalidates a source; null for never. `origin` follows the origin's Cache-Control. The operator sets bounds.",
        examples: [300],
      },
      browserAge: {
        type: ['integer', 'null'],
        minimum: 0,
        maximum: maxAgeSeconds,
        description: 'Seconds that browsers keep an image; null for a year.',
        examples: [60],
      },
    }),
  },
  { sourceAge: 300, browserAge: 60 },
);

const freshnessBody = ({ freshness: set }: Project): BodyOf<typeof freshness> =>
  set ?? { sourceAge: null, browserAge: null };

export const freshnessOperations = {
  getProjectFreshness: operation({
    method: 'GET',
    path: '/projects/{projectId}/freshness',
    summary: 'Read the freshness settings',
    description:
      "Returns the source age and the browser age; both are null if the project's images do not follow their sources.",
    result: itemResult('freshness', freshness),
    handle: async ({ path }, services) =>
      freshnessBody(await findProject(services, path.projectId)),
  }),
  putProjectFreshness: operation({
    method: 'PUT',
    path: '/projects/{projectId}/freshness',
    summary: 'Set the freshness settings',
    description:
      'Images older than the source age are still served while the service revalidates their source in the background. Browsers receive the browser age; CDNs receive the remaining source age.',
    input: { ...freshness, name: 'FreshnessInput' },
    result: itemResult('freshness', freshness),
    handle: async ({ path: { projectId }, input }, services) => {
      const stored = await services.projects.setFreshness(projectId, input);
      return freshnessBody(changed(services, projectId, stored));
    },
  }),
};
