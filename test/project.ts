import { newProjectSettings, type Project, projectColours } from '../store/projects.ts';

/** Returns a new project with some changed fields. */
export function project(changes: Partial<Project> = {}): Project {
  const createdAt = new Date('2026-11-20T12:00:00Z');
  return {
    _id: 'prj_0123456789abcdef',
    orgId: 'org_0123456789abcdef',
    name: 'Shop',
    origin: 'https://pictures.example.com',
    allowedOrigins: ['pictures.example.com'],
    ...projectColours('prj_0123456789abcdef'),
    ...newProjectSettings,
    requireSignedUrls: false,
    signedUrlTtlSeconds: null,
    signingSecret: null,
    createdAt,
    changedAt: createdAt,
    revision: 1,
    ...changes,
  };
}
