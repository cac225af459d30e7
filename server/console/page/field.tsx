import { useId } from 'preact/hooks';
import type { Schema } from './interface.ts';

/** The kinds of controls. */
export type Kind = 'choice' | 'flag' | 'number' | 'colour' | 'list' | 'text';

const typesOf = (schema: Schema): readonly string[] =>
  schema.type === undefined ? [] : [schema.type].flat();

/** The types of a value and of its alternatives. */
const allTypes = (schema: Schema): readonly string[] => [
  ...typesOf(schema),
  ...(schema.anyOf ?? []).flatMap(typesOf),
];

export function kindOf(schema: Schema & { readonly name?: string }): Kind {
  if (schema.name === 'ImageColour') return 'colour';
  const types = allTypes(schema);
  if (types.includes('array')) return 'list';
  if (schema.enum !== undefined) return 'choice';
  const alternatives = schema.anyOf?.find((one) => one.enum !== undefined)?.enum;
  const numeric = types.includes('integer') || types.includes('number');
  if (types.includes('boolean') && !numeric) return 'flag';
  if (numberOf(schema) !== undefined) return 'number';
  return alternatives !== undefined && !numeric ? 'choice' : 'text';
}

/** The schema of a number, also of one with words as alternatives. */
function numberOf(schema: Schema): Schema | undefined {
  const isNumber = (one: Schema) => typesOf(one).some((type) => /^(integer|number)$/.test(type));
  const { anyOf } = schema;
  if (anyOf === undefined) return isNumber(schema) ? schema : undefined;
  return anyOf.every((one) => isNumber(one) || one.enum !== undefined)
    ? anyOf.find(isNumber)
    : undefined;
}

/** The words that a choice offers. */
export const wordsOf = (schema: Schema): readonly string[] =>
  schema.enum ?? schema.anyOf?.find((one) => one.enum !== undefined)?.enum ?? [];

/** The JSON value of a text by its schema; the text itself if invalid. */
export function jsonValue(schema: Schema, text: string): string | number | boolean {
  const types = allTypes(schema);
  const isFlag = kindOf(schema) === 'flag';
  if (types.includes('boolean')) {
    if (text === 'true' || (isFlag && text === '1')) return true;
    if (text === 'false' || (isFlag && text === '0')) return false;
  }
  const number = Number(text);
  const numeric = types.includes('integer') || types.includes('number');
  return numeric && !Number.isNaN(number) ? number : text;
}

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly schema: Schema;
  /** '' for none. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly help?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly required?: boolean;
  /** The service's error for the value. */
  readonly fieldError?: string | undefined;
  /** Slider position without a value; 0 or the nearest by default. */
  readonly unset?: number | undefined;
  /** Whether two fit into the width of a column. */
  readonly short?: boolean;
  /** The texts of a flag's values; `none` is null if a value is required. */
  readonly flag?: { readonly on: string; readonly off: string; readonly none: string | null };
}

const parameterFlag = { on: '1', off: '0', none: 'default' } as const;

/** A labelled control, generated from the value's schema. */
export function Field(props: FieldProps) {
  const id = useId();
  const { label, help, fieldError, name, short = false } = props;
  const helpId = help === undefined || help === '' ? undefined : `${id}-help`;
  const errorId = fieldError === undefined ? undefined : `${id}-error`;
  return (
    <div class={short ? 'field short' : 'field'} data-name={name}>
      <label for={id}>{label}</label>
      <Control
        {...props}
        id={id}
        helpId={[errorId, helpId].filter(Boolean).join(' ') || undefined}
      />
      {errorId !== undefined && (
        <p class="help error" id={errorId}>
          {fieldError}
        </p>
      )}
      {helpId !== undefined && (
        <p class="help" id={helpId}>
          {help}
        </p>
      )}
    </div>
  );
}

type ControlProps = FieldProps & { readonly id: string; readonly helpId: string | undefined };

function Control(props: ControlProps) {
  const { id, helpId, name, schema, value, onChange, placeholder, required = false } = props;
  const invalid = props.fieldError !== undefined;
  const common = { id, name, required, 'aria-describedby': helpId, 'aria-invalid': invalid };
  const onInput = (event: { currentTarget: { value: string } }) =>
    onChange(event.currentTarget.value);
  const kind = kindOf(schema);
  if (kind === 'choice' || kind === 'flag') {
    const { on, off, none } = props.flag ?? parameterFlag;
    const options =
      kind === 'choice'
        ? wordsOf(schema).map((word) => [word, word] as const)
        : ([
            [on, 'on'],
            [off, 'off'],
          ] as const);
    return (
      <select {...common} value={value} onChange={onInput}>
        {(kind === 'choice' ? !required : none !== null) && (
          <option value="">{none ?? 'default'}</option>
        )}
        {options.map(([word, shown]) => (
          <option key={word} value={word}>
            {shown}
          </option>
        ))}
      </select>
    );
  }
  if (kind === 'number') return <NumberControl {...props} />;
  if (kind === 'colour') {
    const hex = /^[0-9a-f]{6}$/i.test(value) ? `#${value}` : '#808080';
    return (
      <span class="pair">
        <input {...common} type="text" {...{ value, placeholder, onInput }} spellcheck={false} />
        <input
          type="color"
          aria-label={`${props.label}, chosen by eye`}
          value={hex}
          onInput={(event) => onChange(event.currentTarget.value.slice(1))}
        />
      </span>
    );
  }
  if (kind === 'list') {
    return (
      <textarea {...common} rows={3} {...{ value, placeholder, onInput }} spellcheck={false} />
    );
  }
  const { maxLength } = schema;
  const text = {
    ...common,
    value,
    placeholder,
    onInput,
    ...(maxLength === undefined ? {} : { maxLength }),
    autocomplete: 'off',
    spellcheck: false,
  };
  return schema.format === 'uri' ? <input {...text} type="url" /> : <input {...text} type="text" />;
}

/** With more values a slider is too coarse. */
const widestSlider = 800;

function NumberControl({ id, helpId, name, label, schema, value, ...props }: ControlProps) {
  const { required = false, unset = 0 } = props;
  const numbers = numberOf(schema) ?? schema;
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = numbers;
  const whole = typesOf(numbers).includes('integer');
  const words = schema.anyOf === undefined ? [] : wordsOf(schema);
  const isNumber = value !== '' && !Number.isNaN(Number(value));
  const span = maximum - minimum;
  const step = whole ? 1 : span <= 10 ? 0.1 : 1;
  const range = { min: minimum, max: maximum };
  const onInput = (event: { currentTarget: { value: string } }) =>
    props.onChange(event.currentTarget.value);
  const common = {
    id,
    name,
    onInput,
    value,
    required,
    placeholder: props.placeholder,
    'aria-describedby': helpId,
    'aria-invalid': props.fieldError !== undefined,
  };
  return (
    <span class="pair">
      {words.length === 0 ? (
        <input
          {...{ ...common, ...range }}
          type="number"
          inputMode={whole ? 'numeric' : 'decimal'}
          step={whole ? 1 : 'any'}
        />
      ) : (
        <>
          <input {...common} type="text" list={`${id}-words`} />
          <datalist id={`${id}-words`}>
            {words.map((word) => (
              <option key={word} value={word} />
            ))}
          </datalist>
        </>
      )}
      {span <= widestSlider && (
        <input
          {...{ ...range, step, onInput }}
          type="range"
          aria-label={`${label}, as a slider`}
          class={isNumber ? undefined : 'unset'}
          value={isNumber ? value : Math.min(maximum, Math.max(minimum, unset))}
        />
      )}
    </span>
  );
}
