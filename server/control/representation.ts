import type { Project } from '../../store/projects.ts';
import { parameterNames } from '../image/parameters.ts';
import type { ProjectBody, ProjectConfiguration } from './schemas.ts';

const creationDate = new Intl.DateTimeFormat('en-US', {
  year: 'numeric',
  month: 'long',
  day: 'numeric',
  timeZone: 'UTC',
});

/** A project as the control plane returns it: only the fields of the interface. */
export function projectBody(project: Project): ProjectBody {
  return {
    id: project._id,
    orgId: project.orgId,
    name: project.name,
    origin: project.origin,
    allowedOrigins: [...project.allowedOrigins],
    color1: project.color1,
    color2: project.color2,
    autoFormat: project.autoFormat,
    defaultQuality: project.defaultQuality,
    defaultDpr: project.defaultDpr,
    defaultFit: project.defaultFit,
    maxWidth: project.maxWidth,
    requireSignedUrls: project.requireSignedUrls,
    signedUrlTtlSeconds: project.signedUrlTtlSeconds,
    stripMetadata: project.stripMetadata,
    watermarkEnabled: project.watermarkEnabled,
    watermarkUrl: project.watermarkUrl,
    watermarkPosition: project.watermarkPosition,
    watermarkOpacity: project.watermarkOpacity,
    watermarkScale: project.watermarkScale,
    watermarkMargin: project.watermarkMargin,
    createdAt: creationDate.format(project.createdAt),
  };
}

/** The configuration that an integration needs to build delivery URLs. */
export function configurationBody(project: Project, baseUrl: string): ProjectConfiguration {
  return {
    projectId: project._id,
    projectName: project.name,
    origin: project.origin,
    allowedOrigins: [...project.allowedOrigins],
    imageBaseUrl: `${baseUrl}/img`,
    transformUrlTemplate: `${baseUrl}/img/{source}?project=${project._id}{&w,h,q,fmt,fit,dpr,blur}`,
    defaults: {
      autoFormat: project.autoFormat,
      defaultQuality: project.defaultQuality,
      stripMetadata: project.stripMetadata,
      watermarkEnabled: project.watermarkEnabled,
    },
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
