import type { ListedProject, Project } from '../../store/projects.ts';
import { parameterNames } from '../image/parameters.ts';
import { type Body, bodySchemas } from './schemas.ts';

const creationDate = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

function pick<T, K extends keyof T>(object: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, object[name]])) as Pick<T, K>;
}

/** A project in responses: only the fields of the schema, no secrets. */
export function projectBody(project: ListedProject): Body<'Project'> {
  const fields = {
    ...project,
    id: project._id,
    allowedOrigins: [...project.allowedOrigins],
    createdAt: creationDate.format(project.createdAt),
  };
  return pick(fields, bodySchemas.Project.required);
}

export function freshnessBody({ freshness }: Project): Body<'Freshness'> {
  return freshness ?? { sourceAge: null, browserAge: null };
}

export function limitsBody({ limits }: Project): Body<'Limits'> {
  return limits ?? { rendersPerDay: null, bytesPerDay: null };
}

/** The configuration that an integration needs to build delivery URLs. */
export function configurationBody(project: Project, baseUrl: string): Body<'ProjectConfiguration'> {
  return {
    projectId: project._id,
    projectName: project.name,
    origin: project.origin,
    allowedOrigins: [...project.allowedOrigins],
    imageBaseUrl: `${baseUrl}/img`,
    transformUrlTemplate: `${baseUrl}/img/{source}?project=${project._id}{&w,h,q,fmt,fit,dpr,blur}`,
    defaults: pick(project, ['autoFormat', 'defaultQuality', 'stripMetadata', 'watermarkEnabled']),
    watermark: {
      enabled: project.watermarkEnabled,
      margin: project.watermarkMargin,
      opacity: project.watermarkOpacity,
      position: project.watermarkPosition,
      scale: project.watermarkScale,
      url: project.watermarkUrl,
    },
    supportedParameters: [...parameterNames],
  };
}
