import { organisationIdPattern } from '../../store/identifiers.ts';
import { type ListedProject, newProjectSettings, type Project } from '../../store/projects.ts';
import {
  fit,
  margin,
  named,
  nullableUri,
  percent,
  position,
  projectIdParameter,
  quality,
  ratio,
  type Schema,
  strictObject,
  texts,
  uri,
  type ValueOf,
} from './schema.ts';

const colour = { type: 'string', pattern: '^#[0-9A-Fa-f]{6}$' } as const;

const projectSchema = {
  description: 'A project: transform defaults and allowed source hosts.',
  ...strictObject({
    id: projectIdParameter.schema,
    orgId: {
      type: 'string',
      pattern: organisationIdPattern.source,
      description: '`org_` and 16 base-36 characters.',
    },
    name: { type: 'string' },
    origin: uri,
    allowedOrigins: { ...texts, description: 'Hosts; `*.example.com` allows all its subdomains.' },
    color1: colour,
    color2: colour,
    autoFormat: { type: 'boolean' },
    defaultQuality: quality,
    defaultDpr: ratio,
    defaultFit: fit,
    maxWidth: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 10_000,
      description: 'Device pixels; null for no limit.',
    },
    requireSignedUrls: { type: 'boolean' },
    signedUrlTtlSeconds: { type: ['integer', 'null'], minimum: 60, maximum: 2_592_000 },
    stripMetadata: { type: 'boolean' },
    watermarkEnabled: { type: 'boolean' },
    watermarkUrl: nullableUri,
    watermarkPosition: position,
    watermarkOpacity: { ...percent, description: 'Percent.' },
    watermarkScale: { ...percent, description: 'Percentage of the output width.' },
    watermarkMargin: { ...margin, description: 'CSS pixels.' },
    createdAt: { type: 'string', description: 'For display, such as `November 20, 2026` (UTC).' },
  }),
} as const satisfies Schema;

export type ProjectBody = ValueOf<typeof projectSchema>;

const allowlist = 'POST /projects/{projectId}/domains';
const signing = 'POST /projects/{projectId}/signing/secrets';
const settings = 'PATCH /projects/{projectId}/settings';

/** The operations that change a project's fields. */
const operationsByField: Readonly<Record<string, string>> = {
  name: 'PATCH /projects/{projectId}',
  origin: 'PATCH /projects/{projectId}',
  allowedOrigins: allowlist,
  allowedHosts: allowlist,
  allowedDomains: allowlist,
  requireSignedUrls: signing,
  signedUrlTtlSeconds: signing,
  ...Object.fromEntries(Object.keys(newProjectSettings).map((name) => [name, settings])),
};

/** Returns the operations that change the fields other than an operation's own, for hints. */
export const otherFields = (own: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(operationsByField).filter(([name]) => !own.includes(name)));

const creationDate = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** Returns a project for responses: only the schema's fields, no secrets. */
export function projectBody(project: ListedProject): ProjectBody {
  const fields: ProjectBody = {
    ...project,
    id: project._id,
    allowedOrigins: [...project.allowedOrigins],
    createdAt: creationDate.format(project.createdAt),
  };
  return Object.fromEntries(
    projectSchema.required.map((name) => [name, fields[name]]),
  ) as ProjectBody;
}

const createdAt = new Date('2026-11-20');

export const exampleProject: Project = {
  _id: projectIdParameter.example,
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

export const project = named('Project', projectSchema, projectBody(exampleProject));
