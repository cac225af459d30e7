import { Field, kindOf, wordsOf } from './field.tsx';
import { nameInWords } from './figures.ts';
import { fieldsOf, type Schema } from './interface.ts';

/** The texts of a form's controls by field name; '' or no key for an empty control. */
export type Values = Readonly<Record<string, string>>;

interface SchemaFieldsProps {
  /** An object's schema; each property gets a control. */
  readonly schema: Schema;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Slider positions of fields without a value. */
  readonly unset?: Readonly<Record<string, number>>;
}

const flag = { on: 'true', off: 'false', none: null } as const;

/** Controls for the fields of a control plane body. */
export function SchemaFields({ schema, values, onChange, ...props }: SchemaFieldsProps) {
  const { placeholders = {}, unset = {} } = props;
  return (
    <>
      {fieldsOf(schema).map(([name, field]) => {
        const value = values[name] ?? '';
        const set = (text: string) => onChange({ ...values, [name]: text });
        const words = field.items === undefined ? [] : wordsOf(field.items);
        if (words.length > 0)
          return <Words key={name} {...{ name, words, value }} onChange={set} />;
        const list = kindOf(field) === 'list';
        return (
          <Field
            key={name}
            {...{ name, value, flag }}
            schema={field}
            label={nameInWords(name)}
            placeholder={placeholders[name]}
            unset={unset[name]}
            required={schema.required?.includes(name) ?? false}
            help={[field.description ?? '', list ? 'One on each line.' : ''].join(' ').trim()}
            onChange={set}
          />
        );
      })}
    </>
  );
}

interface WordsProps {
  readonly name: string;
  readonly words: readonly string[];
  /** Separated by line breaks. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Checkboxes for a list of words. */
function Words({ name, words, value, onChange }: WordsProps) {
  const chosen = linesOf(value);
  const toggle = (word: string) =>
    onChange(
      words
        .filter((one) => (one === word ? !chosen.includes(one) : chosen.includes(one)))
        .join('\n'),
    );
  return (
    <fieldset class="choices field" data-name={name}>
      <legend>{nameInWords(name)}</legend>
      <div>
        {words.map((word) => (
          <label key={word}>
            <input type="checkbox" checked={chosen.includes(word)} onChange={() => toggle(word)} />
            {word}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export const linesOf = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((line) => line !== '');

/** The body of a form's values, without empty fields. */
export function readForm(schema: Schema, values: Values): Record<string, unknown> {
  const given = fieldsOf(schema).flatMap(([name, field]) => {
    const text = (values[name] ?? '').trim();
    return text === '' ? [] : [[name, typed(field, text)] as const];
  });
  return Object.fromEntries(given);
}

function typed(schema: Schema, text: string): unknown {
  const types = [schema.type ?? []].flat();
  if (types.includes('array')) return linesOf(text).map((line) => typed(schema.items ?? {}, line));
  if (types.includes('boolean')) return text === 'true';
  // The service rejects invalid numbers with its own message.
  const number = Number(text);
  return types.includes('integer') && !Number.isNaN(number) ? number : text;
}
