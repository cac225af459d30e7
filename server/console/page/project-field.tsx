import type { Session } from './session.ts';

interface ProjectFieldProps {
  readonly session: Session;
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Selects a project of the key, or takes an id, which needs no key. */
export function ProjectField({ session, value, onChange }: ProjectFieldProps) {
  const { projects } = session;
  const known = projects?.some(({ id }) => id === value) ?? false;
  return (
    <div class="field">
      <label for="project">Project</label>
      {projects !== null && projects.length > 0 ? (
        <select
          id="project"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          <option value="">choose</option>
          {value !== '' && !known && <option value={value}>{value}</option>}
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name} ({id})
            </option>
          ))}
        </select>
      ) : (
        <input
          id="project"
          type="text"
          placeholder="prj_…"
          value={value}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => onChange(event.currentTarget.value.trim())}
        />
      )}
    </div>
  );
}
