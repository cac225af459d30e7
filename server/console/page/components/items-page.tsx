import type { ComponentChildren, ComponentType } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useAction, useData } from '../api/action.ts';
import { formText } from '../api/format.ts';
import { type Schema, toBody, toValues, type Values } from '../api/schema.ts';
import { callOperation, type FieldErrors, nameKey } from '../api/service.ts';
import { useOpenProject } from '../app.ts';
import { moveFocus, useUnsaved } from '../route.ts';
import { ActionForm, Confirm } from './action-form.tsx';
import { TextField } from './fields.tsx';
import { Loaded, Outcome } from './notice.tsx';
import { PageSection, titleId } from './page-section.tsx';
import { SchemaFields } from './schema-fields.tsx';

interface ItemListProps<T> {
  readonly items: readonly T[];
  /** Shown instead of an empty list. */
  readonly empty: string;
  /** Returns the id of an item's row, which can receive the focus. */
  readonly toId: (item: T) => string;
  readonly children: (item: T) => ComponentChildren;
}

export function ItemList<T>({ items, empty, toId, children }: ItemListProps<T>) {
  if (items.length === 0) return <p class="card empty">{empty}</p>;
  return (
    <ul class="rows card">
      {items.map((item) => (
        <li key={toId(item)} id={toId(item)} tabIndex={-1}>
          {children(item)}
        </li>
      ))}
    </ul>
  );
}

/** Properties of an item's controls. */
export interface ItemFieldsProps {
  /** The schema of the operation's body. */
  readonly schema: Schema;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
}

/**
 * A kind of named items in a project: presets, layers, private sources, delivery hosts, URL
 * secrets.
 */
export interface ItemKind<T> {
  /** The name in operation ids, such as `putProjectLayer`, whose body determines the controls. */
  readonly noun: 'Preset' | 'Layer' | 'Origin' | 'Host' | 'UrlSecret';
  /** The item's name in the operations. */
  readonly nameField: 'presetName' | 'layerName' | 'host' | 'kind';
  readonly singular: string;
  readonly title: string;
  readonly intro: ComponentChildren;
  readonly nameLabel: string;
  readonly nameHelp: string;
  readonly getName: (item: T) => string;
  /** Details that the list shows next to the name. */
  readonly describe: (item: T) => ComponentChildren;
  /** Returns a link to the item in the playground. */
  readonly getLink?: (item: T, project: string) => string;
  /** Returns the faults of a saved item. */
  readonly getWarnings?: (item: T) => readonly string[];
  /** The effect of deleting an item. */
  readonly consequence: (name: string) => ComponentChildren;
  /** The success message after saving an item. */
  readonly saved: string;
  /** Own controls, with the texts and the body of their values. By default, one per field. */
  readonly form?: {
    readonly Fields: ComponentType<ItemFieldsProps>;
    /** @param item null for a new item */
    readonly toValues: (schema: Schema, item: T | null) => Values;
    readonly toBody: (schema: Schema, values: Values) => object;
  };
}

const schemaForm = { Fields: SchemaFields, toValues, toBody };

/** Returns the page with a kind's items, and a form for one item, which opens on request. */
export function itemsPage<T extends object>(kind: ItemKind<T>) {
  const { noun, nameField, singular, getName, form = schemaForm } = kind;
  const toId = (item: T) => `${noun.toLowerCase()}s-${getName(item)}`;
  const newId = `new-${noun.toLowerCase()}`;

  return function ItemsPage() {
    const { api, project, description } = useOpenProject();
    const schema = description.getBody(`putProject${noun}`);
    const call = (operation: string, input: object = {}) =>
      callOperation(api, operation, { projectId: project.id, ...input });
    const load = async () => (await call(`listProject${noun}s`)) as readonly T[];
    const items = useData(load, [api, project.id]);
    /** The item of the open form, null for a new item; undefined without a form. */
    const [edited, setEdited] = useState<T | null>();
    const [focusId, setFocusId] = useState('');
    /** The last saved item. */
    const [saved, setSaved] = useState<T | null>(null);
    const { run, clear, message, failure } = useAction();
    useLayoutEffect(() => {
      if (focusId !== '') moveFocus(focusId);
      setFocusId('');
    }, [focusId]);
    const open = (item: T | null) => {
      clear();
      setEdited(item);
    };
    const close = (focus: string) => {
      setEdited(undefined);
      setFocusId(focus);
    };
    const save = async (name: string, values: Values) => {
      const input = { [nameField]: name, ...form.toBody(schema, values) };
      const item = (await call(`putProject${noun}`, input)) as T;
      const others = (items.value ?? []).filter((other) => getName(other) !== getName(item));
      items.set([...others, item].sort((a, b) => (getName(a) < getName(b) ? -1 : 1)));
      close(toId(item));
      setSaved(item);
      await run(async () => `${getName(item)} saved. ${kind.saved}`);
      return '';
    };
    const remove = async (name: string) => {
      setSaved(null);
      const isRemoved = await run(async () => {
        items.set((await call(`deleteProject${noun}`, { [nameField]: name })) as readonly T[]);
        return `${name} deleted.`;
      });
      if (isRemoved) setFocusId(titleId);
    };
    return (
      <PageSection title={kind.title} intro={kind.intro}>
        <Loaded data={items}>
          {(list) =>
            (list.length > 0 || edited === undefined) && (
              <ItemList items={list} empty={`No ${singular}s yet.`} toId={toId}>
                {(item) => {
                  const name = getName(item);
                  const link = kind.getLink?.(item, project.id);
                  return (
                    <>
                      <span>
                        {link === undefined ? <strong>{name}</strong> : <a href={link}>{name}</a>}{' '}
                        {kind.describe(item)}
                      </span>
                      <span class="row">
                        <button type="button" class="small" onClick={() => open(item)}>
                          Edit<span class="hidden"> {name}</span>
                        </button>
                        <Confirm
                          verb="Delete"
                          object={name}
                          consequence={kind.consequence(name)}
                          onConfirm={() => remove(name)}
                        />
                      </span>
                    </>
                  );
                }}
              </ItemList>
            )
          }
        </Loaded>
        <Outcome message={message} failure={failure}>
          {saved !== null && (
            <strong>{formText((kind.getWarnings?.(saved) ?? []).join(' '))} </strong>
          )}
          {saved !== null && kind.getLink !== undefined && (
            <a href={kind.getLink(saved, project.id)}>Try it in the playground</a>
          )}
        </Outcome>
        {edited === undefined ? (
          <button
            id={newId}
            type="button"
            class="primary"
            aria-disabled={items.value === null}
            onClick={() => items.value !== null && open(null)}
          >
            New {singular}
          </button>
        ) : (
          <ItemForm
            // Each item's form keeps its own values.
            key={edited === null ? '' : getName(edited)}
            kind={{ ...kind, form }}
            schema={schema}
            name={edited === null ? null : getName(edited)}
            initial={form.toValues(schema, edited)}
            onSave={save}
            onClose={() => close(edited === null ? newId : toId(edited))}
          />
        )}
      </PageSection>
    );
  };
}

interface ItemFormProps<T> {
  readonly kind: ItemKind<T> & Required<Pick<ItemKind<T>, 'form'>>;
  readonly schema: Schema;
  /** Null for a new item. */
  readonly name: string | null;
  readonly initial: Values;
  readonly onSave: (name: string, values: Values) => Promise<string>;
  readonly onClose: () => void;
}

function ItemForm<T>({ kind, schema, name, onSave, onClose, ...props }: ItemFormProps<T>) {
  const { singular, nameLabel, nameHelp, form } = kind;
  const [initial] = useState(props.initial);
  const [newName, setNewName] = useState('');
  const [values, setValues] = useState(initial);
  useUnsaved(values !== initial || newName !== '');
  const title = name === null ? `New ${singular}` : `Change ${name}`;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <ActionForm
        label={title}
        submit={name === null ? `Create ${singular}` : title}
        onSubmit={() => onSave(name ?? newName.trim(), values)}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            {name === null && (
              <TextField
                label={nameLabel}
                help={nameHelp}
                value={newName}
                onChange={setNewName}
                required
                error={errors.get(nameKey) ?? errors.get('host') ?? errors.get('kind')}
              />
            )}
            <form.Fields {...{ schema, values, errors }} onChange={setValues} />
          </>
        )}
      </ActionForm>
    </section>
  );
}
