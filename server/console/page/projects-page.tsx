import { useState } from 'preact/hooks';
import { readForm, SchemaFields, type Values } from './form.tsx';
import type { Interface } from './interface.ts';
import { FailureNotice } from './notice.tsx';
import { linkTo } from './place.ts';
import { type Api, Failure } from './service.ts';
import type { Session } from './session.ts';

interface ProjectsPageProps {
  readonly api: Api;
  readonly session: Session;
  readonly description: Interface;
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
                  {allowedOrigins.length} allowed {allowedOrigins.length === 1 ? 'host' : 'hosts'},
                  created {createdAt}
                </span>
              </p>
            </li>
          ))}
        </ul>
      )}
      <NewProject {...{ api, session, description }} />
    </section>
  );
}

function NewProject({ api, session, description }: ProjectsPageProps) {
  const schema = description.schemas['CreateProjectInput'] ?? {};
  const [values, setValues] = useState<Values>({});
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const project = await api.create(readForm(schema, values));
      session.keep(project);
      setValues({});
      setFailure(null);
      location.hash = linkTo(`/projects/${project.id}`);
    } catch (error) {
      setFailure(Failure.of(error));
    }
    setBusy(false);
  };
  return (
    <form class="card narrow" aria-label="New project" onSubmit={submit}>
      <h2>New project</h2>
      <SchemaFields
        {...{ schema, values }}
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
