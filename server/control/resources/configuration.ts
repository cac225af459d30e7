import type { Project } from '../../../store/projects.ts';
import { parameterNames } from '../../image/parameters.ts';
import { itemResult, operation } from '../operation.ts';
import { exampleProject } from '../project-body.ts';
import {
  closed,
  hosts,
  margin,
  named,
  nullableUri,
  percent,
  position,
  projectIdParameter,
  type Schema,
  uri,
  type ValueOf,
} from '../schema.ts';
import { findProject } from '../services.ts';

const configurationSchema = {
  description: 'Configuration for integrations that build delivery URLs.',
  ...closed({
    projectId: projectIdParameter.schema,
    projectName: { type: 'string' },
    origin: uri,
    allowedOrigins: hosts,
    imageBaseUrl: uri,
    transformUrlTemplate: { type: 'string', description: 'A URI template (RFC 6570).' },
    defaults: closed({
      autoFormat: { type: 'boolean' },
      defaultQuality: { type: 'integer' },
      stripMetadata: { type: 'boolean' },
      watermarkEnabled: { type: 'boolean' },
    }),
    watermark: closed({
      enabled: { type: 'boolean' },
      margin,
      opacity: percent,
      position,
      scale: percent,
      url: nullableUri,
    }),
    supportedParameters: { type: 'array', items: { type: 'string' } },
  }),
} as const satisfies Schema;

/** The configuration that an integration needs to build delivery URLs. */
export function configurationBody(
  project: Project,
  baseUrl: string,
): ValueOf<typeof configurationSchema> {
  const { autoFormat, defaultQuality, stripMetadata, watermarkEnabled } = project;
  return {
    projectId: project._id,
    projectName: project.name,
    origin: project.origin,
    allowedOrigins: [...project.allowedOrigins],
    imageBaseUrl: `${baseUrl}/img`,
    transformUrlTemplate: `${baseUrl}/img/{source}?project=${project._id}{&w,h,q,fmt,fit,dpr,blur}`,
    defaults: { autoFormat, defaultQuality, stripMetadata, watermarkEnabled },
    watermark: {
      enabled: watermarkEnabled,
      margin: project.watermarkMargin,
      opacity: project.watermarkOpacity,
      position: project.watermarkPosition,
      scale: project.watermarkScale,
      url: project.watermarkUrl,
    },
    supportedParameters: [...parameterNames],
  };
}

const configuration = named(
  'ProjectConfiguration',
  configurationSchema,
  configurationBody(exampleProject, 'https://images.example.com'),
);

export const configurationOperations = {
  getProjectConfiguration: operation({
    method: 'GET',
    path: '/projects/{projectId}/configuration',
    summary: 'Read the delivery configuration',
    description:
      'Delivery URLs, transform defaults, the source allowlist and the supported parameters; no secrets.',
    result: itemResult('configuration', configuration),
    handle: async ({ path }, services) =>
      configurationBody(await findProject(services, path.projectId), services.baseUrl),
  }),
};
