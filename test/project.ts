import { projectColours } from '../store/project-colours.ts';
import { newProjectSettings, type Project } from '../store/projects.ts';

/** A new project with some changed fields. */
export function project(wanted: Partial<Project> = {}): Project {
  const then = new Date('2026-11-20T12:00:00Z');
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
    createdAt: then,
    changedAt: then,
    revision: 1,
    ...wanted,
  };
}
