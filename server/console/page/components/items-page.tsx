import type { ComponentChildren, ComponentType } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useAction, useLoading } from '../api/action.ts';
import type { ApiDescription } from '../api/openapi.ts';
import { getFields, type Schema, toBody, toValues, type Values } from '../api/schema.ts';
import { type FieldErrors, nameKey, type ResponseBody } from '../api/service.ts';
import { moveFocus, useUnsaved } from '../route.ts';
import { ActionForm } from './action-form.tsx';
import { Confirm } from './confirm.tsx';
import { TextField } from './fields.tsx';
import { Loading, Outcome } from './notice.tsx';
import { PageSection, type ProjectProps, titleId } from './page-section.tsx';
import { SchemaFields } from './schema-fields.tsx';

/** Properties of an item's controls. */
export interface PartFieldsProps extends Omit<ProjectProps, 'onChange' | 'onDelete'> {
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
}

/**
 * A kind of named items in a project: presets, layers, private sources, delivery hosts, URL
 * secrets.
 */
export interface ItemKind<P> {
  /** The list field in a response, and the path segment unless `segment` is set. */
  readonly plural: 'presets' | 'layers' | 'origins' | 'hosts' | 'urlSecrets';
  readonly segment?: string;
  readonly singular: string;
  readonly title: string;
  readonly intro: ComponentChildren;
  readonly nameLabel: string;
  readonly nameHelp: string;
  readonly getName: (part: P) => string;
  /** Details that the list shows next to the name. */
  readonly describe: (part: P) => ComponentChildren;
  /** Returns a link to the item in the playground, or null. */
  readonly getLink: (part: P, project: string) => string | null;
  /** The effect of deleting an item. */
  readonly consequence: (name: string) => ComponentChildren;
  /** The success message after saving an item. */
  readonly saved: string;
  readonly Fields: ComponentType<PartFieldsProps>;
  /** Returns the texts of the controls. @param part null for a new item */
  readonly toValues: (part: P | null, props: ProjectProps) => Values;
  readonly toBody: (values: Values, props: ProjectProps) => object;
}

interface Open<P> {
  /** Null for a new item. */
  readonly part: P | null;
  readonly initial: Values;
}

interface ProjectItemsProps<P> extends ProjectProps {
  readonly kind: ItemKind<P>;
}

/** The items of a kind, and a form for one item, which opens on request. */
export function ProjectItems<P>({ kind, ...props }: ProjectItemsProps<P>) {
  const { api, project } = props;
  const { plural, singular, title, getName } = kind;
  const path = `/projects/${project.id}/${kind.segment ?? plural}`;
  const toPath = (name: string) => `${path}/${encodeURIComponent(name)}`;
  const toId = (name: string) => `${plural}-${name}`;
  const getItems = (body: ResponseBody) => body[plural] as unknown as readonly P[];
  const [parts, setParts] = useState<readonly P[] | null>(null);
  const [form, setForm] = useState<Open<P> | null>(null);
  const [focusId, setFocusId] = useState('');
  /** The saved item's link to the playground. */
  const [saved, setSaved] = useState<string | null>(null);
  const { run, clear, message, failure } = useAction();
  useLoading(run, async () => setParts(getItems(await api('GET', path))), [api, path]);
  useLayoutEffect(() => {
    if (focusId !== '') moveFocus(focusId);
    setFocusId('');
  }, [focusId]);
  const open = (part: P | null) => {
    clear();
    setForm({ part, initial: kind.toValues(part, props) });
  };
  const close = (focus: string) => {
    setForm(null);
    setFocusId(focus);
  };
  const save = async (name: string, values: Values) => {
    const body = await api('PUT', toPath(name), kind.toBody(values, props));
    const part = body[plural.slice(0, -1) as keyof ResponseBody] as unknown as P;
    const others = (parts ?? []).filter((other) => getName(other) !== getName(part));
    setParts([...others, part].sort((a, b) => (getName(a) < getName(b) ? -1 : 1)));
    close(toId(getName(part)));
    setSaved(kind.getLink(part, project.id));
    await run(async () => `${getName(part)} is saved. ${kind.saved}`);
    return '';
  };
  const remove = async (name: string) => {
    setSaved(null);
    const isRemoved = await run(async () => {
      setParts(getItems(await api('DELETE', toPath(name))));
      return `${name} is deleted.`;
    });
    if (isRemoved) setFocusId(titleId);
  };
  const newId = `new-${plural}`;
  return (
    <PageSection title={title} project={project} intro={kind.intro}>
      {parts === null && failure === null && <Loading />}
      {parts?.length === 0 && form === null && <p class="card empty">No {singular}s yet.</p>}
      {parts !== null && parts.length > 0 && (
        <ul class="rows card">
          {parts.map((part) => (
            <Row
              key={getName(part)}
              id={toId(getName(part))}
              name={getName(part)}
              link={kind.getLink(part, project.id)}
              description={kind.describe(part)}
              consequence={kind.consequence(getName(part))}
              onEdit={() => open(part)}
              onRemove={() => remove(getName(part))}
            />
          ))}
        </ul>
      )}
      <Outcome message={message} failure={failure}>
        {saved !== null && <a href={saved}>Try it in the playground</a>}
      </Outcome>
      {form === null ? (
        <button
          id={newId}
          type="button"
          class="primary"
          aria-disabled={parts === null}
          onClick={() => parts !== null && open(null)}
        >
          New {singular}
        </button>
      ) : (
        <PartForm
          // Each item's form keeps its own values.
          key={form.part === null ? '' : getName(form.part)}
          {...props}
          kind={kind}
          part={form.part}
          initial={form.initial}
          onSave={save}
          onClose={() => close(form.part === null ? newId : toId(getName(form.part)))}
        />
      )}
    </PageSection>
  );
}

interface PartFormProps<P> extends ProjectItemsProps<P>, Open<P> {
  readonly onSave: (name: string, values: Values) => Promise<string>;
  readonly onClose: () => void;
}

function PartForm<P>({ kind, part, initial, onSave, onClose, ...props }: PartFormProps<P>) {
  const { singular, getName, nameLabel, nameHelp, Fields } = kind;
  const [name, setName] = useState(part === null ? '' : getName(part));
  const [values, setValues] = useState(initial);
  useUnsaved(values !== initial || (part === null && name !== ''));
  const title = part === null ? `New ${singular}` : `Change ${name}`;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <ActionForm
        label={title}
        submit={part === null ? `Create ${singular}` : title}
        onSubmit={() => onSave(name.trim(), values)}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            {part === null && (
              <TextField
                label={nameLabel}
                help={nameHelp}
                value={name}
                onChange={setName}
                required
                error={errors.get(nameKey) ?? errors.get('host') ?? errors.get('kind')}
              />
            )}
            <Fields {...props} values={values} onChange={setValues} errors={errors} />
          </>
        )}
      </ActionForm>
    </section>
  );
}

interface RowProps {
  readonly id: string;
  readonly name: string;
  readonly link: string | null;
  readonly description: ComponentChildren;
  readonly consequence: ComponentChildren;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function Row({ id, name, link, description, consequence, onEdit, onRemove }: RowProps) {
  return (
    <li id={id} tabIndex={-1}>
      <span>
        {link === null ? <strong>{name}</strong> : <a href={link}>{name}</a>} {description}
      </span>
      <span class="row">
        <button type="button" class="small" onClick={onEdit}>
          Edit<span class="hidden"> {name}</span>
        </button>
        <Confirm verb="Delete" object={name} consequence={consequence} onConfirm={onRemove} />
      </span>
    </li>
  );
}

/** Returns the form of items with a control per field of the named schema. */
export function schemaPart(name: string): Pick<ItemKind<object>, 'Fields' | 'toValues' | 'toBody'> {
  const getSchema = ({ schemas }: ApiDescription): Schema => schemas[name] ?? {};
  return {
    Fields: ({ description, values, onChange, errors }: PartFieldsProps) => (
      <SchemaFields schema={getSchema(description)} {...{ values, onChange, errors }} />
    ),
    toValues: (part, { description }) => toValues(getFields(getSchema(description)), part ?? {}),
    toBody: (values, { description }) => toBody(getFields(getSchema(description)), values),
  };
}
