import type { UrlSecret } from '@image-delivery/sdk/client';
import { SchemaFields } from './form.tsx';
import { formatTime } from './format.ts';
import type { ApiDescription } from './openapi.ts';
import type { ProjectProps } from './page-section.tsx';
import { type ItemKind, type PartFieldsProps, ProjectItems } from './project-items.tsx';
import { getFields, type Schema, toBody } from './schema.ts';

const getSchema = ({ schemas }: ApiDescription): Schema => schemas['UrlSecretInput'] ?? {};

const secrets: ItemKind<UrlSecret> = {
  plural: 'urlSecrets',
  segment: 'url-secrets',
  singular: 'URL secret',
  title: 'URL secrets',
  intro:
    "Another service's secrets, to verify the signatures in its URLs on a delivery host. URLs with a wrong signature return 403; unsigned URLs too, if the project requires signatures. Only a key for all projects can change secrets, and no page shows them again.",
  nameLabel: 'Service',
  nameHelp:
    'The service whose URLs a delivery host reads: imgix, cloudinary, imgproxy or thumbor. Example: imgix',
  getName: ({ kind }) => kind,
  describe: ({ secretCount, updatedAt }) => (
    <>
      {secretCount === 2 && 'two valid secrets '}
      <span class="quiet">changed {formatTime(updatedAt)}</span>
    </>
  ),
  getLink: () => null,
  consequence: () =>
    'Its signatures are not checked any more; a project that requires them refuses its URLs.',
  saved: 'URLs are checked with it within two seconds.',
  Fields: SecretFields,
  toValues: () => ({}),
  toBody: (values, { description }) => toBody(getFields(getSchema(description)), values),
};

/** The secrets that other services sign a project's URLs with. */
export const UrlSecrets = (props: ProjectProps) => <ProjectItems {...props} kind={secrets} />;

function SecretFields({ description, values, onChange, errors }: PartFieldsProps) {
  return (
    <SchemaFields
      schema={getSchema(description)}
      values={values}
      onChange={onChange}
      errors={errors}
    />
  );
}
