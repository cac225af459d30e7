import { type FieldProps, Labelled, SelectField, TextField } from './labelled.tsx';
import { chooseKind, getRange, getWords, type Schema } from './schema.ts';

interface SchemaFieldProps extends FieldProps {
  readonly schema: Schema;
  /** Slider position of an empty field; 0 or the nearest value by default. */
  readonly unset?: number | undefined;
}

const flagOptions = [
  ['1', 'on'],
  ['0', 'off'],
] as const;

/** The format of multi-line text. */
export const multiline = 'multiline';

/** A labelled control, generated from the value's schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { schema, unset, ...field } = props;
  const kind = chooseKind(schema);
  if (kind === 'number') return <NumberField {...props} />;
  if (kind === 'colour') return <ColourField {...field} />;
  if (kind === 'choice' || kind === 'flag') {
    const words = getWords(schema).map((word) => [word, word] as const);
    const options = kind === 'flag' ? [...flagOptions, ...words] : words;
    const none = ['', 'default'] as const;
    return <SelectField {...field} options={field.required ? options : [none, ...options]} />;
  }
  if (kind === 'list' || schema.format === multiline) {
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
