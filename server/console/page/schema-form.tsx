import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ActionForm, type ActionFormProps } from './action-form.tsx';
import { SchemaFields, type SchemaFieldsProps } from './form.tsx';
import { bodyOf, fieldsOf, type Values } from './schema.ts';

interface SchemaFormProps
  extends Omit<ActionFormProps, 'onSubmit' | 'children'>,
    Pick<SchemaFieldsProps, 'schema' | 'placeholders'> {
  /** The texts of the controls at first. */
  readonly initial?: Values;
  /** Above the controls. */
  readonly intro?: ComponentChildren;
  /** Resolves with what has been done; '' to show nothing. */
  readonly onSubmit: (body: object) => Promise<string>;
}

/** A form of a new body: its controls, which are those of the schema, have no other use. */
export function SchemaForm({
  schema,
  placeholders = {},
  initial = {},
  intro,
  onSubmit,
  ...form
}: SchemaFormProps) {
  const [values, setValues] = useState(initial);
  return (
    <ActionForm {...form} onSubmit={() => onSubmit(bodyOf(fieldsOf(schema), values))}>
      {(errors) => (
        <>
          {intro}
          <SchemaFields {...{ schema, values, errors, placeholders }} onChange={setValues} />
        </>
      )}
    </ActionForm>
  );
}
