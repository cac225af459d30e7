import { useLayoutEffect, useState } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import { ActionForm } from '../components/action-form.tsx';
import { TextField } from '../components/fields.tsx';
import { Outcome } from '../components/notice.tsx';
import { PageSection, type ProjectProps, titleId } from '../components/page-section.tsx';
import { moveFocus } from '../route.ts';

/** The allowed source hosts. */
export function Allowlist({ api, project, query, onChange }: ProjectProps) {
  const domains = `/projects/${project.id}/domains`;
  // A failed image links here with its host.
  const [host, setHost] = useState(query['host'] ?? '');
  const [added, setAdded] = useState('');
  const { run, message, failure } = useAction();
  useLayoutEffect(() => {
    if (added !== '') moveFocus(`host-${added}`);
    setAdded('');
  }, [added]);
  const remove = async (allowed: string) => {
    const removed = await run(async () => {
      const query = new URLSearchParams({ host: allowed });
      onChange((await api('DELETE', `${domains}?${query}`)).project);
      return `${allowed} is removed.`;
    });
    // The button is gone. Focus on the next button would let a double click remove two hosts.
    if (removed) moveFocus(titleId);
  };
  const add = async () => {
    const known = new Set(project.allowedOrigins);
    const changed = (await api('POST', domains, { host: host.trim() })).project;
    onChange(changed);
    setHost('');
    const isNew = (pattern: string) => !known.has(pattern);
    setAdded(changed.allowedOrigins.find(isNew) ?? '');
    return `${host.trim()} is allowed.`;
  };
  return (
    <PageSection
      title="Allowed hosts"
      project={project}
      intro={
        <>
          Sources may come from these hosts. <code>*.example.com</code> allows all its subdomains.
        </>
      }
    >
      <ul class="rows card">
        {project.allowedOrigins.map((allowed) => (
          <li key={allowed} id={`host-${allowed}`} tabIndex={-1}>
            <code>{allowed}</code>
            <button type="button" class="small" onClick={() => remove(allowed)}>
              Remove<span class="hidden"> {allowed}</span>
            </button>
          </li>
        ))}
      </ul>
      <Outcome message={message} failure={failure} />
      <ActionForm label="Allow a host" submit="Allow" onSubmit={add} class="narrow">
        {(errors) => (
          <TextField
            label="Host to allow"
            value={host}
            onChange={setHost}
            help="A host name without https://. Example: images.example.com"
            required
            error={errors.get('host')}
          />
        )}
      </ActionForm>
    </PageSection>
  );
}
