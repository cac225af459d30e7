import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import { type Schema, toBody, type Values } from '../api/schema.ts';
import { type FieldErrors, toFieldErrors } from '../api/service.ts';
import { FailureNotice } from './notice.tsx';
import { SchemaFields, type SchemaFieldsProps } from './schema-fields.tsx';

/**
 * A button that opens something in its place, and takes the focus back when that closes. The focus
 * moves to whichever button has the reference.
 */
function useOpening() {
  const [isOpen, setOpen] = useState<boolean | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  // Do not focus on page load.
  useLayoutEffect(() => {
    if (isOpen !== null) button.current?.focus();
  }, [isOpen]);
  return { isOpen: isOpen === true, setOpen, button };
}

interface ActionFormProps {
  /** The form's name. */
  readonly label: string;
  readonly submit: ComponentChildren;
  /** Resolves with a success message, or '' to show no message. */
  readonly onSubmit: () => Promise<string>;
  /** Adds a cancel button, and focuses the first control. */
  readonly onCancel?: () => void;
  /** A warning to confirm before the action. */
  readonly question?: ComponentChildren;
  readonly disabled?: boolean;
  readonly buttons?: ComponentChildren;
  readonly class?: string;
  readonly children: (errors: FieldErrors) => ComponentChildren;
}

/**
 * A form for a service action. After an error, focuses the first rejected control, or the error.
 */
export function ActionForm({
  label,
  submit,
  onSubmit,
  onCancel,
  question,
  children,
  ...props
}: ActionFormProps) {
  const { run, clear, busy, message, failure } = useAction();
  const form = useRef<HTMLFormElement>(null);
  const { isOpen: isAsking, setOpen: setAsking, button } = useOpening();
  const isOpened = onCancel !== undefined;
  useLayoutEffect(() => {
    if (isOpened)
      form.current
        ?.querySelector<HTMLElement>('input:not([type=search]), select, textarea')
        ?.focus();
  }, [isOpened]);
  useLayoutEffect(() => {
    if (failure === null) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid=true], [role=alert]')?.focus();
  }, [failure]);
  const isDisabled = props.disabled === true;
  const send = async (event: Event) => {
    event.preventDefault();
    if (busy || isDisabled) return;
    if (question !== undefined && !isAsking) return setAsking(true);
    if (isAsking) setAsking(false);
    await run(onSubmit);
  };
  return (
    <form
      ref={form}
      class={props.class}
      aria-label={label}
      onSubmit={send}
      // The message belongs to the previous values.
      onInput={() => message !== '' && clear()}
    >
      {children(toFieldErrors(failure))}
      <FailureNotice failure={failure} />
      {isAsking && <div class="notice">{question}</div>}
      <p class="row">
        {/* With the attribute `disabled` it would lose the focus, for example when it has saved the changes. */}
        <button
          ref={isAsking ? null : button}
          type="submit"
          class="primary"
          aria-disabled={isDisabled}
        >
          {submit}
          {question !== undefined && !isAsking && ' …'}
        </button>
        {isAsking && (
          <button ref={button} type="button" onClick={() => setAsking(false)}>
            Cancel
          </button>
        )}
        {props.buttons}
        {isOpened && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
      </p>
      <p role="status" class="quiet">
        {message}
      </p>
    </form>
  );
}

interface SchemaFormProps
  extends Omit<ActionFormProps, 'onSubmit' | 'children'>,
    Pick<SchemaFieldsProps, 'schema' | 'placeholders'> {
  /** Initial texts of the controls. */
  readonly initial?: Values;
  /** Resolves with a success message, or '' to show no message. */
  readonly onSubmit: (body: object) => Promise<string>;
}

/** A form for a new request body, with controls derived from the schema. */
export function SchemaForm({
  schema,
  placeholders = {},
  initial = {},
  onSubmit,
  ...form
}: SchemaFormProps) {
  const [values, setValues] = useState(initial);
  return (
    <ActionForm {...form} onSubmit={() => onSubmit(toBody(schema, values))}>
      {(errors) => (
        <SchemaFields {...{ schema, values, errors, placeholders }} onChange={setValues} />
      )}
    </ActionForm>
  );
}

interface NewItemProps {
  /** Such as key. */
  readonly noun: string;
  readonly submit: string;
  readonly schema: Schema;
  readonly initial?: Values;
  /** Whether the button works yet. */
  readonly isReady?: boolean;
  readonly onOpen?: () => void;
  readonly onCreate: (body: object) => Promise<void>;
}

/** A button that opens a form for a new item. It takes the focus back when the user cancels. */
export function NewItem({ noun, isReady = true, onOpen, onCreate, ...form }: NewItemProps) {
  const { isOpen, setOpen, button } = useOpening();
  const title = `New ${noun}`;
  const open = () => {
    if (!isReady) return;
    onOpen?.();
    setOpen(true);
  };
  if (!isOpen) {
    return (
      <p>
        <button ref={button} type="button" class="primary" aria-disabled={!isReady} onClick={open}>
          {title}
        </button>
      </p>
    );
  }
  const create = async (body: object) => {
    await onCreate(body);
    // The new item takes the focus.
    setOpen(null);
    return '';
  };
  return (
    <section class="card narrow" aria-label={title}>
      <h2>{title}</h2>
      <SchemaForm {...form} label={title} onSubmit={create} onCancel={() => setOpen(false)} />
    </section>
  );
}

interface ConfirmProps {
  /** The verb, such as Delete. */
  readonly verb: string;
  /** The item that the action affects. */
  readonly object: string;
  /** The action's effect. */
  readonly consequence: ComponentChildren;
  readonly onConfirm: () => void;
  /** Shows the item on the button too; by default only screen readers read it. */
  readonly isAlone?: boolean;
}

/**
 * A button that asks before it acts. Focuses the choice that cancels, and then the button again.
 */
export function Confirm({ verb, object, consequence, onConfirm, isAlone = false }: ConfirmProps) {
  const { isOpen: isAsking, setOpen: setAsking, button } = useOpening();
  const size = isAlone ? undefined : 'small';
  if (!isAsking) {
    return (
      <button ref={button} type="button" class={size} onClick={() => setAsking(true)}>
        {verb}
        <span class={isAlone ? undefined : 'hidden'}> {object} …</span>
      </button>
    );
  }
  const confirm = () => {
    setAsking(false);
    onConfirm();
  };
  return (
    <span class="row">
      <span>{consequence}</span>
      <button type="button" class={size} onClick={confirm}>
        {verb} {object}
      </button>
      <button ref={button} type="button" class={size} onClick={() => setAsking(false)}>
        Cancel
      </button>
    </span>
  );
}
