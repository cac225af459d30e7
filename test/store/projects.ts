import type { Test } from 'tap';
import { type NewProject, Projects } from '../../store/projects.ts';
import { testDatabase } from './connection.ts';

export const newProject: NewProject = {
  orgId: 'org_1',
  name: 'Shop',
  origin: 'https://pictures.example.com',
  allowedOrigins: ['pictures.example.com'],
};

/** Returns the projects of a test database, with indexes. */
export async function testProjects(t: Test) {
  const { db } = await testDatabase(t);
  const projects = new Projects(db);
  await projects.ensureIndexes();
  return { db, projects };
}
