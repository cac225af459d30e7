import { ServiceError } from '../../../contract/errors.ts';
import type { Project, ProjectSettings } from '../../../store/projects.ts';
import { maxSourceLength } from '../../image/source-url.ts';
import { privateHostError, readUrl, urlRule } from '../hosts-and-urls.ts';
import { itemResult, operation } from '../operation.ts';
import { project, projectBody } from '../project-body.ts';
import {
  type BodyOf,
  fit,
  httpUrl,
  margin,
  named,
  percent,
  position,
  quality,
  ratio,
} from '../schema.ts';
import { changed, findProject, type Services } from '../services.ts';
import { invalidRequest } from '../validation-messages.ts';

const settingsInput = named(
  'ProjectSettingsInput',
  {
    type: 'object',
    description: 'Transform defaults to change; all others stay the same.',
    properties: {
      autoFormat: {
        type: 'boolean',
        description: 'Choose the format from the Accept header if the URL has no `fmt`.',
      },
      defaultQuality: {
        ...quality,
        description: 'Quality if the URL has no `q`. Higher values make larger files.',
        examples: [70],
      },
      defaultDpr: {
        ...ratio,
        description: 'Device pixels per CSS pixel if the URL has no `dpr`.',
        examples: [2],
      },
      defaultFit: { ...fit, description: 'Fit to the box if the URL has no `fit`.' },
      maxWidth: {
        type: 'integer',
        minimum: 0,
        maximum: 10_000,
        description: 'Maximum image width in pixels; 0 removes the limit.',
        examples: [2_000],
      },
      stripMetadata: {
        type: 'boolean',
        description: 'Remove EXIF, XMP and IPTC metadata, such as the location of a photo.',
      },
      watermarkEnabled: { type: 'boolean', description: 'Draw the watermark on all images.' },
      watermarkUrl: {
        type: 'string',
        maxLength: maxSourceLength,
        allOf: [
          {
            anyOf: [
              { maxLength: 0 },
              { format: 'uri', pattern: httpUrl.pattern, not: httpUrl.not },
            ],
            'x-rule': 'must be empty or an absolute http or https URL',
          },
        ],
        description:
          'http or https URL of an image. The service fetches and decodes a new URL before accepting it. An empty string removes the watermark.',
        examples: ['https://shop.example.com/logo.png'],
      },
      watermarkPosition: {
        ...position,
        description: 'Edge or corner of the image for the watermark.',
      },
      watermarkOpacity: {
        ...percent,
        description: 'Watermark opacity in percent.',
        examples: [60],
      },
      watermarkScale: {
        ...percent,
        description: 'Watermark width as a percentage of the image width.',
        examples: [20],
      },
      watermarkMargin: {
        ...margin,
        description: 'Distance between the watermark and the image edges, in pixels.',
        examples: [16],
      },
    },
    minProperties: 1,
    additionalProperties: false,
  },
  { defaultQuality: 70, maxWidth: 2_000 },
);

export const settingsOperations = {
  updateProjectSettings: operation({
    method: 'PATCH',
    path: '/projects/{projectId}/settings',
    summary: 'Update transform defaults',
    description: 'Changes the given defaults, at least one.',
    input: settingsInput,
    waitsForOrigin: true,
    result: itemResult('project', project),
    handle: async ({ path, input, signal }, services) =>
      projectBody(await updateSettings(services, path.projectId, input, signal)),
  }),
};

/** @param signal aborts when the client disconnects */
export async function updateSettings(
  services: Pick<Services, 'projects' | 'guard' | 'checkWatermark' | 'onChange'>,
  id: string,
  input: BodyOf<typeof settingsInput>,
  signal: AbortSignal,
): Promise<Project> {
  const settings: { -readonly [N in keyof ProjectSettings]?: ProjectSettings[N] } = { ...input };
  if (input.maxWidth === 0) settings.maxWidth = null;
  if (input.watermarkUrl === '') settings.watermarkUrl = null;
  else if (input.watermarkUrl !== undefined) {
    await checkWatermark(services, id, input.watermarkUrl, signal);
  }
  return changed(services, id, await services.projects.updateSettings(id, settings));
}

/**
 * Rejects a watermark that would fail on every image. Does not fetch the current watermark again.
 */
async function checkWatermark(
  services: Pick<Services, 'projects' | 'guard' | 'checkWatermark'>,
  id: string,
  text: string,
  signal: AbortSignal,
): Promise<void> {
  const url = readUrl(text);
  if (url === null) throw invalidRequest(`watermarkUrl ${urlRule}`);
  const hostError = privateHostError(url, services.guard);
  if (hostError !== null) throw invalidRequest(`watermarkUrl ${hostError}`);
  const project = await findProject(services, id);
  if (project.watermarkUrl === text) return;
  try {
    await services.checkWatermark(project, url, signal);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'internal_error') throw error;
    if (error.code === 'overloaded') {
      const busy = 'The watermark could not be checked because the service is busy.';
      throw new ServiceError('overloaded', busy, error);
    }
    throw invalidRequest(`watermarkUrl must be an image that can be fetched. ${error.message}`);
  }
}
