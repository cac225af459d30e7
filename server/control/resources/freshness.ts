import type { Project } from '../../../store/projects.ts';
import { one, operation } from '../operation.ts';
import { type BodyOf, closed, named } from '../schema.ts';
import { changed, findProject } from '../services.ts';

const maxAgeSeconds = 31_536_000;

const freshness = named(
  'Freshness',
  {
    description: 'How the images of a project follow their sources. Ages are in seconds.',
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
          "Time after which a source is asked whether it has changed; `origin` follows the origin's Cache-Control, and null never asks. The operator sets bounds.",
        examples: [300],
      },
      browserAge: {
        type: ['integer', 'null'],
        minimum: 0,
        maximum: maxAgeSeconds,
        description: 'Time for which browsers keep an image; null for a year.',
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
    summary: 'Read how images follow their sources',
    description: 'Both ages are null for a project whose images do not change.',
    result: one('freshness', freshness),
    handle: async ({ path }, services) =>
      freshnessBody(await findProject(services, path.projectId)),
  }),
  putProjectFreshness: operation({
    method: 'PUT',
    path: '/projects/{projectId}/freshness',
    summary: 'Set how images follow their sources',
    description:
      'After the source age an image is still served, and its source is asked in the background whether it has changed. The browser age is sent to browsers, and the rest of the source age to CDNs.',
    input: { ...freshness, name: 'FreshnessInput' },
    result: one('freshness', freshness),
    handle: async ({ path: { projectId }, input }, services) => {
      const stored = await services.projects.setFreshness(projectId, input);
      return freshnessBody(changed(services, projectId, stored));
    },
  }),
};
