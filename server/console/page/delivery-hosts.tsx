import type { DeliveryHost } from '@image-delivery/sdk/client';
import { SchemaFields } from './form.tsx';
import { formatTime } from './format.ts';
import { NamedParts, type PartFieldsProps, type PartKind } from './named-parts.tsx';
import type { ApiDescription } from './openapi.ts';
import type { ProjectProps } from './page-section.tsx';
import { bodyOf, fieldsOf, type Schema, valuesOf } from './schema.ts';

const schemaOf = ({ schemas }: ApiDescription): Schema => schemas['DeliveryHostInput'] ?? {};

const hosts: PartKind<DeliveryHost> = {
  plural: 'hosts',
  singular: 'delivery host',
  title: 'Delivery hosts',
  intro:
    'Hosts whose requests belong to the project: the path of a URL is that of the source below the base. Only a root key can change them.',
  nameLabel: 'Host',
  nameHelp:
    'A host name that leads to this service, without wildcard and port. Example: img.shop.example',
  nameOf: ({ host }) => host,
  describe: ({ base, urls, updatedAt }) => (
    <>
      {base === null ? 'the origin of the project' : <code>{base}</code>}, URLs: {urls}{' '}
      <span class="quiet">changed {formatTime(updatedAt)}</span>
    </>
  ),
  linkOf: () => null,
  consequence: () => 'Its URLs will fail.',
  saved: 'Its URLs follow within two seconds.',
  Fields: HostFields,
  valuesOf: (host, { description }) => valuesOf(fieldsOf(schemaOf(description)), host ?? {}),
  bodyOf: (values, { description }) => bodyOf(fieldsOf(schemaOf(description)), values),
};

/** The delivery hosts of a project. */
export const DeliveryHosts = (props: ProjectProps) => <NamedParts {...props} kind={hosts} />;

function HostFields({ description, values, onChange, errors }: PartFieldsProps) {
  return (
    <SchemaFields
      schema={schemaOf(description)}
      values={values}
      onChange={onChange}
      errors={errors}
    />
  );
}
