import type { ProjectOrigin } from '@image-delivery/sdk/client';
import { formatTime } from '../api/format.ts';
import type { ApiDescription } from '../api/openapi.ts';
import { getFields, type Schema, toBody } from '../api/schema.ts';
import { multiline, SchemaField, SelectField } from '../components/fields.tsx';
import { type ItemKind, type PartFieldsProps, ProjectItems } from '../components/items-page.tsx';
import type { ProjectProps } from '../components/page-section.tsx';
import { SchemaFields } from '../components/schema-fields.tsx';

const credentialTypes = [
  ['headers', 'Request headers'],
  ['s3', 'A bucket (S3)'],
] as const;

const getBucketSchema = ({ schemas }: ApiDescription): Schema => {
  const { properties = {}, required = [] } =
    schemas['ProjectOriginInput']?.properties?.['s3'] ?? {};
  return { properties, required };
};

/**
 * Turns lines such as `Authorization: Bearer …` into an object. A line without a colon becomes a
 * header with an empty value.
 */
function parseHeaders(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...value] = line.split(':');
      return [name.trim(), value.join(':').trim()];
    }),
  );
}

const origins: ItemKind<ProjectOrigin> = {
  plural: 'origins',
  singular: 'private source',
  title: 'Private sources',
  intro:
    'Hosts of images that are not public. The service sends request headers, or signs requests to a bucket. It encrypts the secrets, and no page shows them again.',
  nameLabel: 'Host',
  nameHelp:
    'A host on the allowlist, with its port if it is not 443 or 80. Example: photos.example.com',
  getName: ({ host }) => host,
  describe: ({ headers, location, updatedAt }) => (
    <>
      {location === null ? `headers: ${headers.join(', ')}` : <code>{location}</code>}{' '}
      <span class="quiet">changed {formatTime(updatedAt)}</span>
    </>
  ),
  getLink: () => null,
  consequence: () => 'Its sources are fetched without them, and probably refused.',
  saved: 'Sources that are not cached are fetched so.',
  Fields: OriginFields,
  toValues: (origin) => ({ way: origin !== null && origin.location !== null ? 's3' : 'headers' }),
  toBody: ({ way, headers = '', ...values }, { description }) =>
    way === 's3'
      ? { s3: toBody(getFields(getBucketSchema(description)), values) }
      : { headers: parseHeaders(headers) },
};

/** Hosts with sources that need headers or are in a bucket. */
export const Origins = (props: ProjectProps) => <ProjectItems {...props} kind={origins} />;

function OriginFields({ description, values, onChange, errors }: PartFieldsProps) {
  const isBucket = values['way'] === 's3';
  return (
    <>
      <SelectField
        label="How its images are fetched"
        help="With request headers, such as a token, or as objects of a bucket."
        value={isBucket ? 's3' : 'headers'}
        onChange={(way) => onChange({ ...values, way })}
        options={credentialTypes}
      />
      {isBucket ? (
        <SchemaFields
          schema={getBucketSchema(description)}
          values={values}
          onChange={onChange}
          errors={errors}
        />
      ) : (
        <SchemaField
          schema={{ type: 'string', format: multiline }}
          label="Headers"
          value={values['headers'] ?? ''}
          onChange={(headers) => onChange({ ...values, headers })}
          required
          help="All request headers, one on each line; saving replaces the earlier ones. Example: Authorization: Bearer a-token"
          error={errors.get('headers')}
        />
      )}
    </>
  );
}
