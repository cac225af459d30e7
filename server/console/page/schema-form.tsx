import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ActionForm, type ActionFormProps } from './action-form.tsx';
import { SchemaFields, type SchemaFieldsProps } from './form.tsx';
import { getFields, toBody, type Values } from './schema.ts';

interface SchemaFormProps
  extends Omit<ActionFormProps, 'onSubmit' | 'children'>,
    Pick<SchemaFieldsProps, 'schema' | 'placeholders'> {
  /** Initial texts of the controls. */
  readonly initial?: Values;
  /** Shown above the controls. */
  readonly intro?: ComponentChildren;
  /** Resolves with a success message, or '' to show no message. */
  readonly onSubmit: (body: object) => Promise<string>;
}

/** A form for a new request body, with controls derived from the schema. */
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
    <ActionForm {...form} onSubmit={() => onSubmit(toBody(getFields(schema), values))}>
      {(errors) => (
        <>
          {intro}
          <SchemaFields {...{ schema, values, errors, placeholders }} onChange={setValues} />
        </>
      )}
    </ActionForm>
  );
}
