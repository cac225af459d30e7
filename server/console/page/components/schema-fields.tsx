import { useEffect, useState } from 'preact/hooks';
import { fieldLabel, formText } from '../api/format.ts';
import { chooseKind, getExample, getFields, type Schema, type Values } from '../api/schema.ts';
import { type FieldErrors, noErrors } from '../api/service.ts';
import { SchemaField, type SchemaFieldProps, TextField } from './fields.tsx';

/** A field of a form, with the attributes of its control. */
export interface FormField extends Omit<SchemaFieldProps, 'value' | 'onChange' | 'error'> {
  readonly name: string;
  readonly group?: string;
  /** Other names to search. */
  readonly aliases?: readonly string[];
}

interface FormState {
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors?: FieldErrors | undefined;
}

interface FormFieldsProps extends FormState {
  readonly fields: readonly FormField[];
}

const FormFields = ({ fields, values, onChange, errors = noErrors }: FormFieldsProps) => (
  <>
    {fields.map(({ group, aliases, ...field }) => (
      <SchemaField
        key={field.name}
        {...field}
        value={values[field.name] ?? ''}
        onChange={(text) => onChange({ ...values, [field.name]: text })}
        error={errors.get(field.name)}
      />
    ))}
  </>
);

interface SchemaTexts {
  /** The meanings of empty controls, by field. */
  readonly placeholders?: Readonly<Record<string, string>> | undefined;
  /** Slider positions of empty fields. */
  readonly unset?: Readonly<Record<string, number>>;
  /** Field names by group title; the last group contains all others. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the fields of an object schema, such as a control plane body, by group. */
export function toFormFields(schema: Schema, texts: SchemaTexts = {}): readonly FormField[] {
  const { placeholders = {}, unset = {}, groups = { '': [] } } = texts;
  const titles = Object.keys(groups);
  const fields = getFields(schema).map(
    ([name, field]): FormField => ({
      name,
      schema: field,
      label: fieldLabel(name),
      group: titles.find((title) => groups[title]?.includes(name)) ?? titles.at(-1) ?? '',
      placeholder: placeholders[name],
      unset: unset[name],
      required: schema.required?.includes(name) ?? false,
      help: getHelp(field),
    }),
  );
  return titles.flatMap((title) => fields.filter(({ group }) => group === title));
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

export interface SchemaFieldsProps extends FormState, SchemaTexts {
  readonly schema: Schema;
}

/** Controls for the fields of a control plane body. */
export const SchemaFields = ({ schema, placeholders, unset = {}, ...form }: SchemaFieldsProps) => (
  <FormFields fields={toFormFields(schema, { placeholders, unset })} {...form} />
);

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

interface GroupedFieldsProps extends FormFieldsProps {
  /** If set, groups count fields that differ from these values. */
  readonly saved?: Values;
  readonly noun?: 'parameter' | 'field';
  readonly grid?: 'controls' | 'fields';
}

/** Controls in groups, of which the first are open. A search and an error open a group. */
export function GroupedFields({ fields, saved, ...props }: GroupedFieldsProps) {
  const { noun = 'field', grid = 'fields', ...form } = props;
  const { values, errors = noErrors } = form;
  const [search, setSearch] = useState('');
  const [isExplained, setExplained] = useState(grid === 'fields');
  const openCount = useWide() ? 2 : 1;
  const wanted = search.trim().toLowerCase();
  const found = fields.filter(({ name, label, group = '', help = '', aliases = [] }) =>
    [name, label, group, help, ...aliases].some((text) => text.toLowerCase().includes(wanted)),
  );
  const groups = [...new Set(fields.map(({ group = '' }) => group))];
  const isUsed = (name: string) => (values[name] ?? '') !== (saved?.[name] ?? '');
  return (
    <>
      <TextField
        label={`Find a ${noun}`}
        help={`Part of its name or its explanation. Example: ${groups.at(-1)?.toLowerCase()}`}
        type="search"
        value={search}
        onChange={setSearch}
      />
      {grid === 'controls' && (
        <p>
          <button
            type="button"
            class="small"
            aria-pressed={isExplained}
            onClick={() => setExplained(!isExplained)}
          >
            Explain every {noun}
          </button>
        </p>
      )}
      {groups.map((group, index) => {
        const members = found.filter((field) => field.group === group);
        if (members.length === 0) return null;
        const count = members.filter(({ name }) => isUsed(name)).length;
        const isRefused = members.some(({ name }) => errors.has(name));
        return (
          <details key={group} class="group" open={index < openCount || wanted !== '' || isRefused}>
            <summary>
              {group}
              {count > 0 && (
                <span class="quiet">{`, ${count} ${saved === undefined ? 'used' : 'changed'}`}</span>
              )}
            </summary>
            <div class={isExplained || wanted !== '' ? grid : `${grid} brief`}>
              <FormFields {...form} fields={members} />
            </div>
          </details>
        );
      })}
      {found.length === 0 && <p class="quiet">No {noun} matches.</p>}
    </>
  );
}
