import { useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { TextField } from './labelled.tsx';
import { FailureNotice } from './notice.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { moveFocus } from './route.ts';

/** The hosts that sources may come from. */
export function Allowlist({ api, project, onChange }: ProjectProps) {
  const domains = `/projects/${project.id}/domains`;
  const [host, setHost] = useState('');
  const { run, message, failure } = useAction();
  const remove = async (allowed: string) => {
    const removed = await run(async () => {
      const query = new URLSearchParams({ host: allowed });
      onChange((await api('DELETE', `${domains}?${query}`)).project);
      return `${allowed} is removed.`;
    });
    // The button is gone. Focus on the next button would let a double click remove two hosts.
    if (removed) moveFocus('allowlist');
  };
  const add = async (event: Event) => {
    event.preventDefault();
    const text = host.trim();
    await run(async () => {
      onChange((await api('POST', domains, { host: text })).project);
      setHost('');
      return `${text} is allowed.`;
    });
  };
  return (
    <ProjectSection
      id="allowlist"
      title="Allowed hosts"
      intro={
        <>
          Sources may come from these hosts. <code>*.example.com</code> allows all its subdomains.
        </>
      }
    >
      <ul class="rows">
        {project.allowedOrigins.map((allowed) => (
          <li key={allowed}>
            <code>{allowed}</code>
            <button type="button" class="small" onClick={() => remove(allowed)}>
              Remove<span class="hidden"> {allowed}</span>
            </button>
          </li>
        ))}
      </ul>
      <form class="row" onSubmit={add}>
        <TextField
          label="Host to allow"
          value={host}
          onChange={setHost}
          placeholder="images.example.com"
          required
        />
        <button type="submit">Allow</button>
      </form>
      <p role="status" class="quiet">
        {message}
      </p>
      <FailureNotice failure={failure} />
    </ProjectSection>
  );
}
