import type { Project } from '@image-delivery/sdk/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { HealthHistory } from './api/health.ts';
import type { ApiDescription } from './api/openapi.ts';
import type { Api } from './api/service.ts';
import type { Session } from './api/session.ts';
import type { PageRoute } from './route.ts';

/** What every page can use. */
export interface App {
  readonly route: PageRoute;
  readonly session: Session;
  readonly history: HealthHistory;
  readonly description: ApiDescription;
}

export const AppContext = createContext(null as unknown as App);
export const useApp = (): App => useContext(AppContext);

/** What the pages of a project can use too. */
export interface OpenProject extends App {
  readonly api: Api;
  readonly project: Project;
}

export const ProjectContext = createContext(null as unknown as OpenProject);
export const useOpenProject = (): OpenProject => useContext(ProjectContext);
