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
    'Hosts for short image URLs of this project: the URL path is the path of the source below the base. Only a root key can change them.',
  nameLabel: 'Host',
  nameHelp:
    'A host name that leads to this service, without wildcard and port. Example: img.shop.example',
  getName: ({ host }) => host,
  describe: ({ base, urls, updatedAt }) => (
    <>
      {urls} URLs, sources below {base === null ? "the project's origin" : <code>{base}</code>}{' '}
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
