import type { Project } from '@image-delivery/sdk/client';
import { useState } from 'preact/hooks';
import { type FieldErrors, noErrors } from './field-errors.ts';
import { fieldLabel, withoutBackticks } from './format.ts';
import type { ParameterTexts } from './image-url.ts';
import { TextField } from './labelled.tsx';
import type { ApiParameter } from './openapi.ts';
import { kindOf } from './schema.ts';
import { SchemaField } from './schema-field.tsx';

/** The groups in order; the first are open initially. */
const groups = ['size', 'format', 'crop', 'colour', 'filters', 'layers', 'delivery'];
const openCount = 2;

interface ControlsProps {
  readonly parameters: readonly ApiParameter[];
  readonly options: ParameterTexts;
  readonly onChange: (options: ParameterTexts) => void;
  /** The service's errors by parameter name. */
  readonly fieldErrors?: FieldErrors;
  /** Values of unset parameters; see {@link defaultsOf}. */
  readonly defaults: Defaults;
}

type Defaults = Readonly<Record<string, number>>;

/** Returns the values of unset parameters by name, 0 for others. @param project null if unknown */
export function defaultsOf(project: Project | null): Defaults {
  const { defaultQuality = 80, defaultDpr = 1 } = project ?? {};
  return { q: defaultQuality, dpr: defaultDpr, brightness: 1, saturation: 1, opacity: 1 };
}

/** Wide windows show the result next to the controls; narrow windows start with closed controls. */
const isWide = (): boolean => matchMedia('(min-width: 60rem)').matches;

export function Controls(props: ControlsProps) {
  const { parameters, options, onChange, fieldErrors = noErrors, defaults } = props;
  const [open] = useState(isWide);
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = parameters.filter(({ name, group, meaning, aliases }) =>
    [name, group, meaning, ...aliases].some((text) => text.toLowerCase().includes(wanted)),
  );
  const control = ({ name, schema, example, meaning, accepts }: ApiParameter) => {
    const kind = kindOf(schema);
    const isShort = kind === 'flag' || (kind === 'number' && (schema.maximum ?? 0) > 800);
    // The user types the value. Other controls offer only accepted values.
    const isFree =
      ['text', 'colour'].includes(kind) || (kind === 'number' && schema.anyOf !== undefined);
    return (
      <SchemaField
        key={name}
        name={name}
        schema={schema}
        label={name}
        value={options[name] ?? ''}
        onChange={(value) => onChange({ ...options, [name]: value })}
        error={fieldErrors.get(name)}
        unset={defaults[name]}
        short={isShort}
        placeholder={example === '' ? undefined : `e.g. ${example}`}
        help={withoutBackticks(isFree ? `${meaning} Accepts ${accepts}.` : meaning)}
      />
    );
  };
  return (
    <details open={open || fieldErrors.size > 0}>
      <summary>Parameters</summary>
      <TextField
        label="Find a parameter"
        help="A part of its name or its explanation. Example: colour"
        type="search"
        value={search}
        onChange={setSearch}
      />
      {groups.map((group, index) => {
        const members = found.filter((parameter) => parameter.group === group);
        if (members.length === 0) return null;
        const used = members.filter(({ name }) => (options[name] ?? '') !== '').length;
        const isRefused = members.some(({ name }) => fieldErrors.has(name));
        return (
          <details key={group} class="group" open={index < openCount || wanted !== '' || isRefused}>
            <summary>
              {fieldLabel(group)}
              {used > 0 && <span class="quiet"> {used} used</span>}
            </summary>
            <div class="controls">{members.map(control)}</div>
          </details>
        );
      })}
      {found.length === 0 && <p class="quiet">No parameter matches.</p>}
      <p>
        <button type="button" class="small" onClick={() => onChange({})}>
          Reset all
        </button>
      </p>
    </details>
  );
}
