import type { CreateProjectInput } from '@image-delivery/sdk/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import { countText, formatTime } from '../api/format.ts';
import type { Api } from '../api/service.ts';
import { useApp } from '../app.ts';
import { NewItem } from '../components/action-form.tsx';
import { FailureNotice } from '../components/notice.tsx';
import { Title } from '../components/page-section.tsx';
import { linkTo } from '../route.ts';

/** A form for a new project, and the projects that the key can access. */
export function ProjectsPage({ api }: { readonly api: Api }) {
  const { session, description } = useApp();
  const projects = session.projects ?? [];
  const list = useRef<HTMLUListElement>(null);
  /** The number of projects before loading more. */
  const [knownCount, setKnownCount] = useState(0);
  const { run, busy, failure } = useAction();
  // The button might disappear, so the first loaded project takes the focus.
  useLayoutEffect(() => {
    if (knownCount > 0) list.current?.children[knownCount]?.querySelector('a')?.focus();
  }, [knownCount]);
  const create = async (body: object) => {
    const project = await api.createProject(body as CreateProjectInput);
    session.setProject(project);
    location.hash = linkTo(`/projects/${project.id}`);
  };
  const loadMore = () =>
    run(async () => {
      await session.loadMore();
      setKnownCount(projects.length);
      return '';
    });
  return (
    <section>
      <Title text="Projects" />
      <NewItem
        noun="project"
        submit="Create"
        schema={description.getBody('createProject')}
        onCreate={create}
      />
      {projects.length === 0 ? (
        <p class="card empty">No projects yet. Create one for your site.</p>
      ) : (
        <ul ref={list} class="projects">
          {projects.map(({ id, name, origin, allowedOrigins, createdAt }) => (
            <li key={id} class="card">
              <h2>
                <a href={linkTo(`/projects/${id}`)}>{name}</a>
              </h2>
              <p class="quiet">
                <code>{id}</code>
              </p>
              <p>
                {origin}
                <br />
                <span class="quiet">
                  {countText(allowedOrigins.length, 'allowed host')}, created{' '}
                  {formatTime(createdAt)}
                </span>
              </p>
            </li>
          ))}
        </ul>
      )}
      <FailureNotice failure={failure} />
      {session.hasMore && (
        <button type="button" aria-disabled={busy} onClick={() => !busy && loadMore()}>
          Show more projects
        </button>
      )}
    </section>
  );
}
