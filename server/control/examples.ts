import { newProjectSettings, type Project } from '../../store/projects.ts';
import { noUsage } from '../usage/usage-totals.ts';
import { configurationBody, projectBody } from './representation.ts';
import { usageBody } from './usage-body.ts';

const createdAt = new Date('2026-11-20');

const project: Project = {
  _id: 'prj_32gx1acb9wtykf3m',
  orgId: 'org_23i6fhnera87cmlx',
  name: 'My shop',
  origin: 'https://shop.example.com/',
  allowedOrigins: ['shop.example.com', '*.cdn.example.com'],
  color1: '#2d6cdf',
  color2: '#e0a458',
  ...newProjectSettings,
  requireSignedUrls: false,
  signedUrlTtlSeconds: null,
  signingSecret: null,
  createdAt,
  changedAt: createdAt,
  revision: 1,
};

const presetInput = { parameters: { w: 400, h: 300, fit: 'cover', sharpen: true } };

const layerInput = {
  text: { words: 'Sale', position: 'northeast', color: 'fff', background: 'c00', padding: 8 },
};

const usage = {
  ...noUsage(),
  memory: 9_120,
  disk: 640,
  miss: 230,
  none: 10,
  bytes: 481_213_000,
  renders: 228,
  renderMs: 19_420,
  backgroundRequests: 40,
  backgroundRenders: 40,
  backgroundRenderMs: 3_100,
};

/** The examples of the OpenAPI document, by schema; a test validates them. */
export const examples = {
  Project: projectBody(project),
  ProjectConfiguration: configurationBody(project, 'https://images.example.com'),
  CreateProjectInput: {
    name: 'My shop',
    origin: 'https://shop.example.com/',
    allowedOrigins: ['*.cdn.example.com'],
  },
  ProjectSettingsInput: { defaultQuality: 70, maxWidth: 2_000 },
  PrewarmInput: {
    sources: ['https://shop.example.com/a.jpg', 'https://shop.example.com/b.jpg'],
    widths: [400, 800],
    formats: ['auto'],
  },
  PrewarmReceipt: { accepted: true, sourceCount: 2, variantCount: 4 },
  PrewarmStatus: {
    id: 'pre_9gx41acb9wtykf3m',
    status: 'failed',
    progress: 100,
    sourceCount: 2,
    variantCount: 4,
    sources: { waiting: 0, running: 0, done: 1, failed: 1 },
    failures: [
      {
        source: 'https://shop.example.com/b.jpg',
        reason:
          '3 of 3 variants are not warm. w=400 auto/avif: 404 source_not_found: The source was not found.',
      },
    ],
    createdAt: '2026-11-20T09:31:32.000Z',
  },
  PurgeInput: { sources: ['https://shop.example.com/a.jpg'] },
  PurgeReceipt: { accepted: true, sourceCount: 1 },
  PurgeStatus: {
    id: '1795167092000',
    status: 'done',
    sourceCount: 1,
    hook: { status: 'done', reason: '' },
    machines: [{ name: 'web-1', images: 12, deletedAt: '2026-11-20T09:31:36.000Z' }],
    createdAt: '2026-11-20T09:31:32.000Z',
  },
  Freshness: { sourceAge: 300, browserAge: 60 },
  FreshnessInput: { sourceAge: 300, browserAge: 60 },
  ProjectOrigin: {
    host: 'photos.example.com',
    headers: ['authorization'],
    location: null,
    updatedAt: '2026-11-20T09:31:32.000Z',
  },
  ProjectOriginInput: { headers: { Authorization: 'Bearer a-token' } },
  Usage: usageBody({ from: '2026-11-20', to: '2026-11-20', format: 'json' }, [
    { date: '2026-11-20', counts: usage },
  ]),
  Limits: { rendersPerDay: 10_000, bytesPerDay: null },
  LimitsInput: { rendersPerDay: 10_000, bytesPerDay: null },
  DomainInput: { host: 'static.example.com' },
  PresetInput: presetInput,
  Preset: { name: 'card', ...presetInput },
  LayerInput: layerInput,
  Layer: { name: 'badge', ...layerInput },
};
