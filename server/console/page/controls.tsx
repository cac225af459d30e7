import { useState } from 'preact/hooks';
import { Field, kindOf } from './field.tsx';
import type { Options } from './image-url.ts';
import type { Parameter } from './interface.ts';
import type { Project } from './service.ts';

/** The first parameters of the table are the most used. */
const shownAtFirst = 6;

interface ControlsProps {
  readonly parameters: readonly Parameter[];
  readonly options: Options;
  readonly onChange: (options: Options) => void;
  /** Errors of the service by parameter name. */
  readonly fieldErrors?: ReadonlyMap<string, string>;
  /** Values of parameters that are not set; see {@link defaultsOf}. */
  readonly defaults: Defaults;
}

type Defaults = Readonly<Record<string, number>>;

/** Neutral values other than 0, and the defaults of a new project. */
const withoutEffect: Defaults = { q: 80, dpr: 1, brightness: 1, saturation: 1, opacity: 1 };

/** The values of parameters that are not set, by name. @param project null if unknown */
export function defaultsOf(project: Project | null): Defaults {
  const [defaultQuality, defaultDpr] = [project?.['defaultQuality'], project?.['defaultDpr']];
  return {
    ...withoutEffect,
    ...(typeof defaultQuality === 'number' ? { q: defaultQuality } : {}),
    ...(typeof defaultDpr === 'number' ? { dpr: defaultDpr } : {}),
  };
}

const noErrors: ReadonlyMap<string, string> = new Map();

/** Whether the result is next to the controls; in a narrow window they are closed at first. */
const isWide = (): boolean => matchMedia('(min-width: 60rem)').matches;

/** A control for each transform parameter. */
export function Controls({ parameters, options, onChange, ...props }: ControlsProps) {
  const { fieldErrors = noErrors, defaults } = props;
  const [open] = useState(isWide);
  const [search, setSearch] = useState('');
  const rest = parameters.slice(shownAtFirst);
  const wanted = search.trim().toLowerCase();
  const found = rest.filter(({ name, meaning, aliases }) =>
    [name, meaning, ...aliases].some((text) => text.toLowerCase().includes(wanted)),
  );
  const control = (parameter: Parameter) => (
    <ParameterField
      key={parameter.name}
      parameter={parameter}
      value={options[parameter.name] ?? ''}
      fieldError={fieldErrors.get(parameter.name)}
      unset={defaults[parameter.name]}
      onChange={(value) => onChange({ ...options, [parameter.name]: value })}
    />
  );
  const used = rest.filter(({ name }) => (options[name] ?? '') !== '').length;
  return (
    <details open={open || fieldErrors.size > 0}>
      <summary>Parameters</summary>
      <div class="controls">{parameters.slice(0, shownAtFirst).map(control)}</div>
      <details open={rest.some(({ name }) => fieldErrors.has(name))}>
        <summary>
          {rest.length} more{used > 0 && `, ${used} used`}
        </summary>
        <div class="field">
          <label for="find-parameter">Find a parameter</label>
          <input
            id="find-parameter"
            type="search"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </div>
        <div class="controls">{found.map(control)}</div>
        {found.length === 0 && <p class="quiet">None of them fits.</p>}
      </details>
      <p>
        <button type="button" class="small" onClick={() => onChange({})}>
          Reset all
        </button>
      </p>
    </details>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly fieldError: string | undefined;
  readonly unset: number | undefined;
  readonly onChange: (value: string) => void;
}

function ParameterField({ parameter, value, fieldError, unset, onChange }: ParameterFieldProps) {
  const { name, schema, example, meaning, accepts } = parameter;
  const kind = kindOf(schema);
  // Other controls offer only accepted values.
  const orWord = kind === 'number' && schema.anyOf !== undefined;
  const free = kind === 'text' || kind === 'colour' || orWord;
  return (
    <Field
      {...{ name, schema, value, fieldError, unset, onChange }}
      label={name}
      short={kind === 'flag' || (kind === 'number' && (schema.maximum ?? 0) > 800)}
      placeholder={example === '' ? undefined : `e.g. ${example}`}
      help={plain(free ? `${meaning} Accepts ${accepts}.` : meaning)}
    />
  );
}

/** A text without backticks. */
const plain = (text: string): string => text.replaceAll('`', '');
