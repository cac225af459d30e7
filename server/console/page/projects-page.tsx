import { useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { SchemaFields } from './form.tsx';
import { countOf } from './format.ts';
import { FailureNotice } from './notice.tsx';
import type { ApiDescription } from './openapi.ts';
import { linkTo } from './route.ts';
import { bodyOf, fieldsOf, type Values } from './schema.ts';
import type { Api } from './service.ts';
import type { Session } from './session.ts';

interface ProjectsPageProps {
  readonly api: Api;
  readonly session: Session;
  readonly description: ApiDescription;
}

/** The projects of the key, and a form for a new one. */
export function ProjectsPage({ api, session, description }: ProjectsPageProps) {
  const projects = session.projects ?? [];
  return (
    <section>
      <h1>Projects</h1>
      {projects.length === 0 ? (
        <p>There is none yet.</p>
      ) : (
        <ul class="projects">
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
                  {countOf(allowedOrigins.length, 'allowed host')}, created {createdAt}
                </span>
              </p>
            </li>
          ))}
        </ul>
      )}
      {session.next !== null && <MoreProjects session={session} />}
      <NewProject api={api} session={session} description={description} />
    </section>
  );
}

function MoreProjects({ session }: Pick<ProjectsPageProps, 'session'>) {
  const { run, busy, failure } = useAction();
  const load = () =>
    run(async () => {
      await session.loadMore();
      return '';
    });
  return (
    <>
      <FailureNotice failure={failure} />
      <button type="button" disabled={busy} onClick={load}>
        Show more projects
      </button>
    </>
  );
}

function NewProject({ api, session, description }: ProjectsPageProps) {
  const schema = description.schemas['CreateProjectInput'] ?? {};
  const [values, setValues] = useState<Values>({});
  const { run, busy, failure } = useAction();
  const submit = async (event: Event) => {
    event.preventDefault();
    await run(async () => {
      const { project } = await api('POST', '/projects', bodyOf(fieldsOf(schema), values));
      session.setProject(project);
      setValues({});
      location.hash = linkTo(`/projects/${project.id}`);
      return '';
    });
  };
  return (
    <form class="card narrow" aria-label="New project" onSubmit={submit}>
      <h2>New project</h2>
      <SchemaFields
        schema={schema}
        values={values}
        placeholders={{
          name: 'My site',
          origin: 'https://www.example.com/',
          allowedOrigins: '*.cdn.example.com',
        }}
        onChange={setValues}
      />
      <FailureNotice failure={failure} />
      <button type="submit" class="primary" disabled={busy}>
        Create
      </button>
    </form>
  );
}
