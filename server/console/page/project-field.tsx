import { SelectField, TextField } from './labelled.tsx';
import type { Session } from './session.ts';

interface ProjectFieldProps {
  readonly session: Session;
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** Selects a project of the key, or takes an id, which needs no key, or if the key has many projects. */
export function ProjectField({ session, value, onChange }: ProjectFieldProps) {
  const projects = session.projects ?? [];
  if (projects.length === 0 || session.next !== null) {
    const set = (text: string) => onChange(text.trim());
    return (
      <TextField
        label="Project"
        help="The id of a project. Example: prj_32gx1acb9wtykf3m"
        value={value}
        onChange={set}
      />
    );
  }
  const isListed = value === '' || projects.some(({ id }) => id === value);
  const options = [
    ['', 'choose'] as const,
    ...(isListed ? [] : [[value, value] as const]),
    ...projects.map(({ id, name }) => [id, `${name} (${id})`] as const),
  ];
  return (
    <SelectField
      label="Project"
      help="Its defaults, presets and layers apply."
      value={value}
      onChange={onChange}
      options={options}
    />
  );
}
