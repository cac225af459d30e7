import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { fieldLabel, formText } from '../api/format.ts';
import {
  chooseKind,
  getExample,
  getFields,
  getWords,
  type Schema,
  splitLines,
  type Values,
} from '../api/schema.ts';
import { type FieldErrors, noErrors } from '../api/service.ts';
import { SchemaField, TextField } from './fields.tsx';

export interface SchemaFieldsProps {
  /** An object schema; each property gets a control. */
  readonly schema: Schema;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly placeholders?: Readonly<Record<string, string>>;
  /** Slider positions of empty fields. */
  readonly unset?: Readonly<Record<string, number>>;
  readonly errors?: FieldErrors;
}

/** Controls for the fields of a control plane body. */
export const SchemaFields = (props: SchemaFieldsProps) => <>{createControls(props)}</>;

interface GroupedFieldsProps extends SchemaFieldsProps {
  /** Field names by group title; the last group contains all others. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly openCount: number;
  readonly example: string;
  /** If set, groups count fields that differ from these values. */
  readonly saved?: Values;
}

/** Grouped controls, for many fields. */
export function GroupedFields({ groups, openCount, example, saved, ...props }: GroupedFieldsProps) {
  const titles = Object.keys(groups);
  const controls = createControls(props);
  const fields = getFields(props.schema).map(([name, field], index) => ({
    name,
    group: titles.find((title) => groups[title]?.includes(name)) ?? titles.at(-1) ?? '',
    isUsed: (props.values[name] ?? '') !== (saved?.[name] ?? ''),
    texts: [fieldLabel(name), field.description ?? ''],
    control: controls[index],
  }));
  return (
    <FieldGroups
      groups={titles}
      openCount={openCount}
      fields={fields}
      errors={props.errors ?? noErrors}
      used={saved === undefined ? 'used' : 'changed'}
      noun="field"
      example={example}
      grid="fields"
    />
  );
}

function createControls({ schema, values, onChange, ...props }: SchemaFieldsProps) {
  const { placeholders = {}, unset = {}, errors = noErrors } = props;
  return getFields(schema).map(([name, field]) => {
    const common = {
      label: fieldLabel(name),
      name,
      value: values[name] ?? '',
      onChange: (text: string) => onChange({ ...values, [name]: text }),
      error: errors.get(name),
    };
    const words = getWords(field.items ?? {});
    if (words.length > 0) {
      const help = formText(field.description ?? '');
      return <Checkboxes key={name} {...common} words={words} help={help} />;
    }
    return (
      <SchemaField
        key={name}
        {...common}
        schema={field}
        placeholder={placeholders[name]}
        unset={unset[name]}
        required={schema.required?.includes(name) ?? false}
        help={getHelp(field)}
      />
    );
  });
}

/** Explains a field, with an example. */
function getHelp(field: Schema): string {
  const example = getExample(field);
  return [
    formText(field.description ?? ''),
    chooseKind(field) === 'list' ? 'One on each line.' : '',
    example === '' ? '' : `Example: ${example}`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

interface CheckboxesProps {
  readonly label: string;
  readonly name: string;
  readonly words: readonly string[];
  /** Separated by line breaks. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
  readonly help: string;
}

function Checkboxes({ label, name, words, value, onChange, error, help }: CheckboxesProps) {
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
      {help !== '' && <p class="help">{help}</p>}
    </fieldset>
  );
}

interface GroupedField {
  readonly name: string;
  readonly group: string;
  /** Whether the group counts the field. */
  readonly isUsed: boolean;
  /** More texts to search. */
  readonly texts: readonly string[];
  readonly control: ComponentChildren;
}

interface FieldGroupsProps {
  /** In order; the first are open initially. */
  readonly groups: readonly string[];
  readonly openCount: number;
  readonly fields: readonly GroupedField[];
  readonly errors: FieldErrors;
  /** Describes counted fields. */
  readonly used?: string;
  /** Such as `parameter`. */
  readonly noun: string;
  /** An example search. */
  readonly example: string;
  readonly grid?: 'controls' | 'fields';
}

const wideWindow = matchMedia('(min-width: 60rem)');

/** Whether the window shows the result next to the controls. */
export function useWide(): boolean {
  const [isWide, setWide] = useState(wideWindow.matches);
  useEffect(() => {
    const look = () => setWide(wideWindow.matches);
    wideWindow.addEventListener('change', look);
    return () => wideWindow.removeEventListener('change', look);
  }, []);
  return isWide;
}

/** Controls in groups. A search and an error open a group. */
export function FieldGroups(props: FieldGroupsProps) {
  const {
    groups,
    openCount,
    fields,
    errors,
    noun,
    example,
    used = 'used',
    grid = 'controls',
  } = props;
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const found = fields.filter(({ name, group, texts }) =>
    [name, group, ...texts].some((text) => text.toLowerCase().includes(wanted)),
  );
  const present = groups.filter((group) => fields.some((field) => field.group === group));
  return (
    <>
      <TextField
        label={`Find a ${noun}`}
        help={`Part of its name or its explanation. Example: ${example}`}
        type="search"
        value={search}
        onChange={setSearch}
      />
      {present.map((group, index) => {
        const members = found.filter((field) => field.group === group);
        if (members.length === 0) return null;
        const count = members.filter(({ isUsed }) => isUsed).length;
        const isRefused = members.some(({ name }) => errors.has(name));
        return (
          <details key={group} class="group" open={index < openCount || wanted !== '' || isRefused}>
            <summary>
              {group}
              {count > 0 && (
                <span class="quiet">
                  {' '}
                  {count} {used}
                </span>
              )}
            </summary>
            <div class={grid}>{members.map(({ control }) => control)}</div>
          </details>
        );
      })}
      {found.length === 0 && <p class="quiet">No {noun} matches.</p>}
    </>
  );
}
