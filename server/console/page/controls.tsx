import { useState } from 'preact/hooks';
import { Field } from './field.tsx';
import type { Options } from './image-url.ts';
import type { Parameter } from './interface.ts';

/** The table of parameters begins with those that nearly every image needs. */
const shownAtFirst = 6;

interface ControlsProps {
  readonly parameters: readonly Parameter[];
  readonly options: Options;
  readonly onChange: (options: Options) => void;
}

/** A control for each transform parameter that the service has. */
export function Controls({ parameters, options, onChange }: ControlsProps) {
  const [search, setSearch] = useState('');
  const rest = parameters.slice(shownAtFirst);
  const wanted = search.trim().toLowerCase();
  const found = rest.filter(({ name, meaning, aliases }) =>
    [name, meaning, ...aliases].some((text) => text.toLowerCase().includes(wanted)),
  );
  const control = ({ name, schema, example, meaning, accepts }: Parameter) => (
    <Field
      key={name}
      {...{ name, schema }}
      label={name}
      value={options[name] ?? ''}
      placeholder={example}
      help={`${plain(meaning)} Accepts ${accepts}.`}
      onChange={(value) => onChange({ ...options, [name]: value })}
    />
  );
  const used = rest.filter(({ name }) => (options[name] ?? '') !== '').length;
  return (
    <div class="controls">
      {parameters.slice(0, shownAtFirst).map(control)}
      <details>
        <summary>
          {rest.length} more parameters{used > 0 && `, ${used} used`}
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
        {found.map(control)}
        {found.length === 0 && <p class="quiet">None of them fits.</p>}
      </details>
      <button type="button" class="small" onClick={() => onChange({})}>
        Reset all
      </button>
    </div>
  );
}

/** A text without the marks of code. */
const plain = (text: string): string => text.replaceAll('`', '');
