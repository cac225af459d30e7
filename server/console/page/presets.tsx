import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Controls, defaultsOf } from './controls.tsx';
import { Field, jsonValue, kindOf } from './field.tsx';
import type { Options } from './image-url.ts';
import { fieldsOf, type Interface, type Parameter } from './interface.ts';
import { FailureNotice } from './notice.tsx';
import { linkTo } from './place.ts';
import { type Api, Failure, type Preset, type Project } from './service.ts';

interface PresetsProps {
  readonly api: Api;
  readonly project: Project;
  readonly description: Interface;
}

/** The presets of a project: named image parameters. */
export function Presets({ api, project, description }: PresetsProps) {
  const [presets, setPresets] = useState<readonly Preset[]>([]);
  const [name, setName] = useState('');
  const [options, setOptions] = useState<Options>({});
  const [message, setMessage] = useState('');
  const [failure, setFailure] = useState<Failure | null>(null);
  const parameters = useMemo(() => presetParameters(description), [description]);
  const fieldErrors = fieldErrorsOf(failure);
  const heading = useRef<HTMLHeadingElement>(null);
  const form = useRef<HTMLFormElement>(null);
  // The error is next to the control, which may be far from the button.
  useEffect(
    () => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [failure],
  );
  useEffect(() => {
    api.presets(project.id).then(setPresets, (error) => setFailure(Failure.of(error)));
  }, [api, project.id]);
  /** Runs a change, and resets the form if it succeeds. */
  const change = async (action: () => Promise<string>) => {
    try {
      setMessage(await action());
      setFailure(null);
      setName('');
      setOptions({});
    } catch (error) {
      setMessage('');
      setFailure(Failure.of(error));
    }
  };
  const save = (event: Event) => {
    event.preventDefault();
    return change(async () => {
      const preset = await api.keepPreset(project.id, name.trim(), bodyOf(parameters, options));
      const others = presets.filter((one) => one.name !== preset.name);
      setPresets([...others, preset].sort((a, b) => (a.name < b.name ? -1 : 1)));
      return `${preset.name} is saved. New images use it within two seconds.`;
    });
  };
  const remove = (preset: Preset) =>
    change(async () => {
      setPresets(await api.removePreset(project.id, preset.name));
      heading.current?.focus();
      return `${preset.name} is deleted.`;
    });
  const edit = (preset: Preset) => {
    setName(preset.name);
    setOptions(textsOf(parameters, preset));
    setMessage('');
    setFailure(null);
  };
  const nameSchema = description.schemas['Preset']?.properties?.['name'] ?? {};
  const isKnown = presets.some((one) => one.name === name.trim());
  return (
    <section class="card" aria-labelledby="presets">
      <h2 id="presets" ref={heading} tabIndex={-1}>
        Presets
      </h2>
      <p class="quiet">
        <code>preset=card</code> in the URL of an image stands for the parameters that are kept
        under this name. Those of the URL itself take precedence.
      </p>
      {presets.length > 0 && (
        <ul class="hosts">
          {presets.map((preset) => (
            <Row
              key={preset.name}
              {...{ preset, project }}
              onEdit={() => edit(preset)}
              onRemove={() => remove(preset)}
            />
          ))}
        </ul>
      )}
      <form ref={form} aria-labelledby="presets" onSubmit={save}>
        <Field
          name="preset-name"
          label="Preset name"
          schema={nameSchema}
          help={nameSchema.description}
          value={name}
          placeholder="card"
          required
          fieldError={fieldErrors.get(nameKey)}
          onChange={setName}
        />
        <Controls
          {...{ parameters, options, fieldErrors, defaults: defaultsOf(project) }}
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
    </section>
  );
}

interface RowProps {
  readonly preset: Preset;
  readonly project: Project;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function Row({ preset, project, onEdit, onRemove }: RowProps) {
  const [asked, setAsked] = useState(false);
  const { name } = preset;
  const query = Object.entries(preset.parameters).map(([key, value]) => `${key}=${value}`);
  return (
    <li class="preset">
      <span>
        <a href={linkTo('/', { project: project.id, preset: name })}>{name}</a>{' '}
        <code>{query.join('&')}</code>
      </span>
      {asked ? (
        <span class="row">
          <span>
            URLs with <code>preset={name}</code> fail then.
          </span>
          <button type="button" class="small" onClick={onRemove}>
            Delete {name}
          </button>
          <button type="button" class="small" onClick={() => setAsked(false)}>
            Keep
          </button>
        </span>
      ) : (
        <span class="row">
          <button type="button" class="small" onClick={onEdit}>
            Edit<span class="hidden"> {name}</span>
          </button>
          <button type="button" class="small" onClick={() => setAsked(true)}>
            Delete<span class="hidden"> {name} …</span>
          </button>
        </span>
      )}
    </li>
  );
}

/** The parameters of presets. */
function presetParameters({ schemas, parameters }: Interface): readonly Parameter[] {
  const names = fieldsOf(schemas['PresetInput']?.properties?.['parameters']).map(([name]) => name);
  return parameters.filter(({ name }) => names.includes(name));
}

/** A preset's values as texts of the controls, where flags are 1 and 0. */
function textsOf(parameters: readonly Parameter[], preset: Preset): Options {
  const flags = parameters
    .filter(({ schema }) => kindOf(schema) === 'flag')
    .map(({ name }) => name);
  const texts = Object.entries(preset.parameters).map(([name, value]) => [
    name,
    String(flags.includes(name) ? Number(value) : value),
  ]);
  return Object.fromEntries(texts);
}

function bodyOf(parameters: readonly Parameter[], options: Options) {
  const given = parameters.flatMap(({ name, schema }) => {
    const text = (options[name] ?? '').trim();
    return text === '' ? [] : [[name, jsonValue(schema, text)] as const];
  });
  return { parameters: Object.fromEntries(given) };
}

/** No parameter has this name. */
const nameKey = '';

/** The errors by field name; the message of a failure lists them. */
function fieldErrorsOf(failure: Failure | null): ReadonlyMap<string, string> {
  if (failure?.status !== 400) return new Map();
  const fieldErrors = failure.message.replace(/\.$/, '').split('; ');
  return new Map(
    fieldErrors.flatMap((fieldError) => {
      const [, name, rule] = /^parameters\.(\w+) (.+)$/s.exec(fieldError) ?? [];
      if (name !== undefined && rule !== undefined) return [[name, `It ${rule}.`] as const];
      const ofName = /^the name of a preset (.+)$/s.exec(fieldError)?.[1];
      return ofName === undefined ? [] : [[nameKey, `It ${ofName}.`] as const];
    }),
  );
}
