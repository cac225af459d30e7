import { useRef, useState } from 'preact/hooks';
import { FailureNotice } from './notice.tsx';
import { type Api, Failure, type Project } from './service.ts';

interface AllowlistProps {
  readonly api: Api;
  readonly project: Project;
  readonly onChange: (project: Project) => void;
}

/** The hosts that sources may come from. */
export function Allowlist({ api, project, onChange }: AllowlistProps) {
  const [host, setHost] = useState('');
  const [message, setMessage] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const change = async (action: () => Promise<Project>, done: string) => {
    try {
      onChange(await action());
      setFailure(null);
      setMessage(done);
      return true;
    } catch (error) {
      setFailure(Failure.of(error));
      return false;
    }
  };
  const remove = async (allowed: string) => {
    const removed = await change(() => api.disallow(project.id, allowed), `${allowed} is removed.`);
    // The button is gone. Focus on the next button would let a double click remove two hosts.
    if (removed) heading.current?.focus();
  };
  const add = async (event: Event) => {
    event.preventDefault();
    const text = host.trim();
    if (await change(() => api.allow(project.id, text), `${text} is allowed.`)) setHost('');
  };
  return (
    <section class="card" aria-labelledby="allowlist">
      <h2 id="allowlist" ref={heading} tabIndex={-1}>
        Allowed hosts
      </h2>
      <p class="quiet">
        Sources may come from these hosts. <code>*.example.com</code> allows all its subdomains.
      </p>
      <ul class="hosts">
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
        <div class="field">
          <label for="host">Host to allow</label>
          <input
            id="host"
            type="text"
            placeholder="images.example.com"
            value={host}
            required
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => setHost(event.currentTarget.value)}
          />
        </div>
        <button type="submit">Allow</button>
      </form>
      <p role="status" class="quiet">
        {message}
      </p>
      <FailureNotice failure={failure} />
    </section>
  );
}
