import { Allowlist } from './allowlist.tsx';
import { CopyText } from './copy.tsx';
import { Defaults } from './defaults.tsx';
import { Presets } from './presets.tsx';
import { Prewarm } from './prewarm.tsx';
import type { ProjectProps } from './project-section.tsx';
import { Purge } from './purge.tsx';
import { linkTo } from './route.ts';
import { Usage } from './usage.tsx';

/** A project: allowlist, defaults, presets, prewarming, purges and usage. */
export function ProjectPage(props: ProjectProps) {
  const { id, name, origin, createdAt, requireSignedUrls } = props.project;
  return (
    <section class="project">
      <p>
        <a href={linkTo('/projects')}>All projects</a>
      </p>
      <h1>{name}</h1>
      <p>
        {origin} <span class="quiet">created {createdAt}</span>
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
      <Allowlist {...props} />
      <Defaults {...props} />
      <Presets {...props} />
      <Prewarm {...props} />
      <Purge {...props} />
      <Usage {...props} />
    </section>
  );
}
