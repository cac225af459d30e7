import { SchemaFields } from './form.tsx';
import type { ApiDescription } from './openapi.ts';
import type { ItemKind, PartFieldsProps } from './project-items.tsx';
import { getFields, type Schema, toBody, toValues } from './schema.ts';

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
