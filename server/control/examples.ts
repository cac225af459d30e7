import type {
  CreateProjectInput,
  DomainInput,
  Preset,
  PresetInput,
  PrewarmInput,
  PrewarmReceipt,
  ProjectBody,
  ProjectConfiguration,
  ProjectSettingsInput,
} from './schemas.ts';

/** The examples of the OpenAPI document; a test validates each with its schema. */
const project: ProjectBody = {
  id: 'prj_32gx1acb9wtykf3m',
  orgId: 'org_23i6fhnera87cmlx',
  name: 'My shop',
  origin: 'https://shop.example.com/',
  allowedOrigins: ['shop.example.com', '*.cdn.example.com'],
  color1: '#2d6cdf',
  color2: '#e0a458',
  autoFormat: true,
  defaultQuality: 80,
  defaultDpr: 1,
  defaultFit: 'cover',
  maxWidth: null,
  requireSignedUrls: false,
  signedUrlTtlSeconds: null,
  stripMetadata: true,
  watermarkEnabled: false,
  watermarkUrl: null,
  watermarkPosition: 'southeast',
  watermarkOpacity: 60,
  watermarkScale: 20,
  watermarkMargin: 16,
  createdAt: 'November 20, 2026',
};

const configuration: ProjectConfiguration = {
  projectId: project.id,
  projectName: project.name,
  origin: project.origin,
  allowedOrigins: project.allowedOrigins,
  imageBaseUrl: 'https://images.example.com/img',
  transformUrlTemplate:
    'https://images.example.com/img/{source}?project=prj_32gx1acb9wtykf3m{&w,h,q,fmt,fit,dpr,blur}',
  defaults: {
    autoFormat: true,
    defaultQuality: 80,
    stripMetadata: true,
    watermarkEnabled: false,
  },
  watermark: {
    enabled: false,
    margin: 16,
    opacity: 60,
    position: 'southeast',
    scale: 20,
    url: null,
  },
  supportedParameters: ['w', 'h', 'q', 'fmt', 'fit', 'dpr', 'blur'],
};

const createProjectInput: CreateProjectInput = {
  name: 'My shop',
  origin: 'https://shop.example.com/',
  allowedOrigins: ['*.cdn.example.com'],
};

const projectSettingsInput: ProjectSettingsInput = { defaultQuality: 70, maxWidth: 2_000 };

const prewarmInput: PrewarmInput = {
  sources: ['https://shop.example.com/a.jpg', 'https://shop.example.com/b.jpg'],
  widths: [400, 800],
  formats: ['auto'],
};

const prewarmReceipt: PrewarmReceipt = { accepted: true, sourceCount: 2, variantCount: 4 };

const domainInput: DomainInput = { host: 'static.example.com' };

const presetInput: PresetInput = { parameters: { w: 400, h: 300, fit: 'cover', sharpen: true } };

const preset: Preset = { name: 'card', ...presetInput };

export const examples = {
  Project: project,
  ProjectConfiguration: configuration,
  CreateProjectInput: createProjectInput,
  ProjectSettingsInput: projectSettingsInput,
  PrewarmInput: prewarmInput,
  PrewarmReceipt: prewarmReceipt,
  DomainInput: domainInput,
  PresetInput: presetInput,
  Preset: preset,
};
