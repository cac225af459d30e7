import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { chooseKind, getRange, getWords, type Schema, splitLines } from '../api/schema.ts';

/** A control for a text value. */
interface FieldProps {
  readonly label: string;
  /** '' if unset. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  readonly help?: string | undefined;
  /** The service's error for the value. */
  readonly error?: string | undefined;
  /** The API's field or parameter name. */
  readonly name?: string;
  /** Whether two controls fit in one row. */
  readonly short?: boolean;
}

/** Returns a control's attributes, which connect it to its label and texts. */
function connect(props: FieldProps, id: string) {
  const { value, onChange, placeholder, required, help = '', error = '' } = props;
  const described = [error && `${id}-error`, help && `${id}-help`].join(' ').trim();
  return {
    id,
    value,
    placeholder,
    required,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onChange(event.currentTarget.value),
    'aria-describedby': described || undefined,
    'aria-invalid': error !== '' || undefined,
  };
}

interface LabelledProps extends FieldProps {
  readonly control: (attributes: ReturnType<typeof connect>) => ComponentChildren;
}

function Labelled(props: LabelledProps) {
  const { label, name, short = false, control, help = '', error = '' } = props;
  const id = useId();
  return (
    <div class={short ? 'field short' : 'field'} data-name={name}>
      <label for={id} title={help}>
        {label}
      </label>
      {control(connect(props, id))}
      {error !== '' && (
        <p class="help error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {help !== '' && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

interface TextFieldProps extends FieldProps {
  readonly type?: 'text' | 'url' | 'password' | 'search';
  readonly maxLength?: number | undefined;
}

export function TextField({ type = 'text', maxLength, ...field }: TextFieldProps) {
  return (
    <Labelled
      {...field}
      control={(attributes) => (
        <input
          {...attributes}
          maxLength={maxLength}
          // Preact's input type does not accept a union of these types. The service explains an
          // address without a scheme better than the browser does.
          type={(type === 'url' ? 'text' : type) as 'text'}
          inputMode={type === 'url' ? 'url' : undefined}
          // Enter in a search must not send the form around it.
          form={type === 'search' ? '' : undefined}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    />
  );
}

interface SelectFieldProps extends FieldProps {
  readonly options: ReadonlyArray<readonly [value: string, text: string]>;
}

export function SelectField({ options, ...field }: SelectFieldProps) {
  return (
    <Labelled
      {...field}
      control={(attributes) => (
        <select {...attributes}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    />
  );
}

export interface SchemaFieldProps extends FieldProps {
  readonly schema: Schema;
  /** Slider position of an empty field; 0 or the nearest value by default. */
  readonly unset?: number | undefined;
}

const flagOptions = [
  ['1', 'on'],
  ['0', 'off'],
] as const;

/** Whether a text's pattern accepts a line break. */
const isMultiline = ({ pattern }: Schema): boolean =>
  pattern !== undefined && new RegExp(pattern).test('\n');

/** A labelled control, generated from the value's schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { schema, unset, ...field } = props;
  const kind = chooseKind(schema);
  if (kind === 'number') return <NumberField {...props} />;
  if (kind === 'colour') return <ColourField {...field} />;
  if (kind === 'choices') return <Checkboxes {...props} />;
  if (kind === 'choice' || kind === 'flag') {
    const words = getWords(schema).map((word) => [word, word] as const);
    const options = kind === 'flag' ? [...flagOptions, ...words] : words;
    const none = ['', 'default'] as const;
    return <SelectField {...field} options={field.required ? options : [none, ...options]} />;
  }
  if (kind === 'list' || isMultiline(schema)) {
    return (
      <Labelled
        {...field}
        control={(attributes) => <textarea {...attributes} rows={3} spellcheck={false} />}
      />
    );
  }
  const type = schema.format === 'uri' ? 'url' : 'text';
  return <TextField {...field} type={type} maxLength={schema.maxLength} />;
}

/** The words of a list. The value separates them by line breaks. */
function Checkboxes({ label, name, schema, value, onChange, error, help }: SchemaFieldProps) {
  const words = getWords(schema.items ?? {});
  const chosen = splitLines(value);
  const toggle = (word: string) => {
    const next = words.filter((candidate) => chosen.includes(candidate) !== (candidate === word));
    onChange(next.join('\n'));
  };
  return (
    <fieldset class="choices field" data-name={name}>
      <legend>{label}</legend>
      <div>
        {words.map((word) => (
          <label key={word}>
            <input type="checkbox" checked={chosen.includes(word)} onChange={() => toggle(word)} />
            {word}
          </label>
        ))}
      </div>
      {error !== undefined && <p class="help error">{error}</p>}
      <p class="help">{help}</p>
    </fieldset>
  );
}

/** Returns the colour for a picker, which takes six digits, or grey for a colour name. */
function pickerColour(value: string): string {
  const hex = value.toLowerCase();
  if (/^[0-9a-f]{3,4}$/.test(hex)) return `#${hex.slice(0, 3).replace(/./g, '$&$&')}`;
  return /^[0-9a-f]{6}(?:..)?$/.test(hex) ? `#${hex.slice(0, 6)}` : '#808080';
}

function ColourField(props: FieldProps) {
  const { label, value, onChange } = props;
  return (
    <Labelled
      {...props}
      control={(attributes) => (
        <span class="pair">
          <input {...attributes} type="text" spellcheck={false} />
          <input
            type="color"
            aria-label={`${label}, in a colour picker`}
            value={pickerColour(value)}
            onInput={(event) => onChange(event.currentTarget.value.slice(1))}
          />
        </span>
      )}
    />
  );
}

/** A slider for more values would be too coarse. */
const maxSliderSpan = 800;

/** A number or a keyword, with a slider for small ranges. */
function NumberField({ schema, unset, ...field }: SchemaFieldProps) {
  const start = unset ?? (Number(schema.default) || 0);
  const { minimum: min, maximum: max, isInteger } = getRange(schema);
  const words = getWords(schema);
  const isNumber = field.value !== '' && !Number.isNaN(Number(field.value));
  return (
    <Labelled
      {...field}
      control={(attributes) => (
        <span class="pair">
          {words.length === 0 ? (
            <input
              {...attributes}
              min={min}
              max={max}
              type="number"
              inputMode={isInteger ? 'numeric' : 'decimal'}
              step={isInteger ? 1 : 'any'}
            />
          ) : (
            <>
              <input {...attributes} type="text" list={`${attributes.id}-words`} />
              <datalist id={`${attributes.id}-words`}>
                {words.map((word) => (
                  <option key={word} value={word} />
                ))}
              </datalist>
            </>
          )}
          {max - min <= maxSliderSpan && (
            <input
              min={min}
              max={max}
              type="range"
              step={isInteger || max - min > 10 ? 1 : 0.1}
              aria-label={`${field.label}, as a slider`}
              class={isNumber ? undefined : 'unset'}
              value={isNumber ? field.value : Math.min(max, Math.max(min, start))}
              onInput={attributes.onInput}
            />
          )}
        </span>
      )}
    />
  );
}
