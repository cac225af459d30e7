import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useAction } from './action.ts';
import { Controls, defaultsOf } from './controls.tsx';
import type { ParameterTexts } from './image-url.ts';
import { TextField } from './labelled.tsx';
import { FailureNotice } from './notice.tsx';
import { type ProjectProps, ProjectSection } from './project-section.tsx';
import { linkTo, moveFocus } from './route.ts';
import { bodyOf, valuesOf } from './schema.ts';
import type { Failure, Preset, Project } from './service.ts';

/** The presets of a project: named image parameters. */
export function Presets({ api, project, description }: ProjectProps) {
  const path = `/projects/${project.id}/presets`;
  const pathOf = (preset: string) => `${path}/${encodeURIComponent(preset)}`;
  const [presets, setPresets] = useState<readonly Preset[]>([]);
  const [name, setName] = useState('');
  const [options, setOptions] = useState<ParameterTexts>({});
  const { run, clear, message, failure } = useAction();
  const parameters = useMemo(() => {
    const accepted = description.schemas['PresetParameters']?.properties;
    return description.parameters.filter((one) => one.name in (accepted ?? {}));
  }, [description]);
  const fields = parameters.map((one) => [one.name, one.schema] as const);
  const fieldErrors = fieldErrorsOf(failure);
  const form = useRef<HTMLFormElement>(null);
  // The error is next to the control, which may be far from the button.
  useEffect(
    () => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [failure],
  );
  const fill = (preset: Preset | null) => {
    setName(preset?.name ?? '');
    setOptions(preset === null ? {} : valuesOf(fields, preset.parameters));
  };
  const change = (request: () => Promise<readonly Preset[]>, message: string) =>
    run(async () => {
      setPresets(await request());
      fill(null);
      return message;
    });
  useEffect(() => {
    void run(async () => {
      setPresets((await api('GET', path)).presets);
      return '';
    });
  }, [api, path]);
  const save = (event: Event) => {
    event.preventDefault();
    const body = { parameters: bodyOf(fields, options) };
    return change(async () => {
      const { preset } = await api('PUT', pathOf(name.trim()), body);
      const others = presets.filter((one) => one.name !== preset.name);
      return [...others, preset].sort((a, b) => (a.name < b.name ? -1 : 1));
    }, `${name.trim()} is saved. New images use it within two seconds.`);
  };
  const remove = async (preset: Preset) => {
    const request = async () => (await api('DELETE', pathOf(preset.name))).presets;
    if (await change(request, `${preset.name} is deleted.`)) moveFocus('presets');
  };
  const edit = (preset: Preset) => {
    fill(preset);
    clear();
  };
  const isKnown = presets.some((one) => one.name === name.trim());
  return (
    <ProjectSection
      id="presets"
      title="Presets"
      intro={
        <>
          <code>preset=card</code> in the URL of an image stands for the parameters that are kept
          under this name. Those of the URL itself take precedence.
        </>
      }
    >
      {presets.length > 0 && (
        <ul class="rows">
          {presets.map((preset) => (
            <Row
              key={preset.name}
              preset={preset}
              project={project}
              onEdit={() => edit(preset)}
              onRemove={() => remove(preset)}
            />
          ))}
        </ul>
      )}
      <form ref={form} aria-labelledby="presets" onSubmit={save}>
        <TextField
          label="Preset name"
          help={description.schemas['Preset']?.properties?.['name']?.description}
          value={name}
          onChange={setName}
          placeholder="card"
          required
          error={fieldErrors.get(nameKey)}
        />
        <Controls
          parameters={parameters}
          options={options}
          fieldErrors={fieldErrors}
          defaults={defaultsOf(project)}
          onChange={setOptions}
        />
        <FailureNotice failure={failure} />
        <button type="submit" class="primary">
          {isKnown ? `Change ${name.trim()}` : 'Create preset'}
        </button>
      </form>
      <p role="status" class="quiet">
        {message}
      </p>
    </ProjectSection>
  );
}

interface RowProps {
  readonly preset: Preset;
  readonly project: Project;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function Row({ preset, project, onEdit, onRemove }: RowProps) {
  const [isConfirming, setConfirming] = useState(false);
  const { name } = preset;
  const query = Object.entries(preset.parameters).map(([key, value]) => `${key}=${value}`);
  return (
    <li class="preset">
      <span>
        <a href={linkTo('/', { project: project.id, preset: name })}>{name}</a>{' '}
        <code>{query.join('&')}</code>
      </span>
      {isConfirming ? (
        <span class="row">
          <span>
            URLs with <code>preset={name}</code> will fail.
          </span>
          <button type="button" class="small" onClick={onRemove}>
            Delete {name}
          </button>
          <button type="button" class="small" onClick={() => setConfirming(false)}>
            Keep
          </button>
        </span>
      ) : (
        <span class="row">
          <button type="button" class="small" onClick={onEdit}>
            Edit<span class="hidden"> {name}</span>
          </button>
          <button type="button" class="small" onClick={() => setConfirming(true)}>
            Delete<span class="hidden"> {name} …</span>
          </button>
        </span>
      )}
    </li>
  );
}

/** The key of the error of the name. No parameter has this name. */
const nameKey = '';

/** The errors by field name; the message of a failure lists them. */
function fieldErrorsOf(failure: Failure | null): ReadonlyMap<string, string> {
  if (failure?.status !== 400) return new Map();
  const errors = failure.message.replace(/\.$/, '').split('; ');
  return new Map(
    errors.flatMap((error) => {
      const pattern = /^(?:parameters\.(\w+)|the name of a preset) (.+)$/s;
      const [, name = nameKey, rule] = pattern.exec(error) ?? [];
      return rule === undefined ? [] : [[name, `It ${rule}.`] as const];
    }),
  );
}
