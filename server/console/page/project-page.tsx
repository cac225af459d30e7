import { Allowlist } from './allowlist.tsx';
import { CopyText } from './copy.tsx';
import { Defaults } from './defaults.tsx';
import type { HealthHistory } from './health.ts';
import type { Interface } from './interface.ts';
import { linkTo } from './place.ts';
import { Presets } from './presets.tsx';
import { Prewarm } from './prewarm.tsx';
import type { Api, Project } from './service.ts';

interface ProjectPageProps {
  readonly api: Api;
  readonly project: Project;
  readonly description: Interface;
  readonly history: HealthHistory;
  readonly onChange: (project: Project) => void;
}

/** A project: allowlist, defaults, presets and prewarming. */
export function ProjectPage({ api, project, description, history, onChange }: ProjectPageProps) {
  const { id, name, origin, requireSignedUrls } = project;
  return (
    <section class="project">
      <p>
        <a href={linkTo('/projects')}>All projects</a>
      </p>
      <h1>{name}</h1>
      <p>
        {origin} <span class="quiet">created {project.createdAt}</span>
      </p>
      <CopyText label="project id" text={id} />
      <p>
        <a href={linkTo('/', { project: id })}>Open in the playground</a>
      </p>
      {requireSignedUrls && (
        <p class="notice">
          This project accepts signed URLs only, so the previews here are refused. Sign a URL with{' '}
          <code>npm run --silent admin -- projects sign {id} --url …</code>
        </p>
      )}
      <Allowlist {...{ api, project, onChange }} />
      <Defaults {...{ api, project, description, onChange }} />
      <Presets key={id} {...{ api, project, description }} />
      <Prewarm {...{ api, project, description, history }} />
    </section>
  );
}
