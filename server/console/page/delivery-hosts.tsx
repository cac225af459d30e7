import type { DeliveryHost } from '@image-delivery/sdk/client';
import { SchemaFields } from './form.tsx';
import { formatTime } from './format.ts';
import type { ApiDescription } from './openapi.ts';
import type { ProjectProps } from './page-section.tsx';
import { type ItemKind, type PartFieldsProps, ProjectItems } from './project-items.tsx';
import { getFields, type Schema, toBody, toValues } from './schema.ts';

const getSchema = ({ schemas }: ApiDescription): Schema => schemas['DeliveryHostInput'] ?? {};

const hosts: ItemKind<DeliveryHost> = {
  plural: 'hosts',
  singular: 'delivery host',
  title: 'Delivery hosts',
  intro:
    'Hosts whose requests belong to the project: the path of a URL is that of the source below the base. Only a root key can change them.',
  nameLabel: 'Host',
  nameHelp:
    'A host name that leads to this service, without wildcard and port. Example: img.shop.example',
  getName: ({ host }) => host,
  describe: ({ base, urls, updatedAt }) => (
    <>
      {base === null ? 'the origin of the project' : <code>{base}</code>}, URLs: {urls}{' '}
      <span class="quiet">changed {formatTime(updatedAt)}</span>
    </>
  ),
  getLink: () => null,
  consequence: () => 'Its URLs will fail.',
  saved: 'Its URLs follow within two seconds.',
  Fields: HostFields,
  toValues: (host, { description }) => toValues(getFields(getSchema(description)), host ?? {}),
  toBody: (values, { description }) => toBody(getFields(getSchema(description)), values),
};

/** The delivery hosts of a project. */
export const DeliveryHosts = (props: ProjectProps) => <ProjectItems {...props} kind={hosts} />;

function HostFields({ description, values, onChange, errors }: PartFieldsProps) {
  return (
    <SchemaFields
      schema={getSchema(description)}
      values={values}
      onChange={onChange}
      errors={errors}
    />
  );
}
