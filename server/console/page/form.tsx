import { Field, kindOf, wordsOf } from './field.tsx';
import { nameInWords } from './figures.ts';
import { fieldsOf, type Schema } from './interface.ts';

/** The texts of a form's controls by the names of the fields; none or '' where nothing was entered. */
export type Values = Readonly<Record<string, string>>;

interface SchemaFieldsProps {
  /** Of an object: a control is made for each of its properties. */
  readonly schema: Schema;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Where the sliders of fields without a value stand. */
  readonly unset?: Readonly<Record<string, number>>;
}

const flag = { on: 'true', off: 'false', none: null } as const;

/** The controls for the fields of a body of the control plane. */
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
  /** Separated by line breaks, as in the other lists. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Several of a few words. */
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

/** The body that a form's values stand for; fields in which nothing was entered are left out. */
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
  // What is not a number is left to the service to refuse, with its own words.
  const number = Number(text);
  return types.includes('integer') && !Number.isNaN(number) ? number : text;
}
