import type { ProjectOrigin } from '@image-delivery/sdk/client';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useAction } from '../api/action.ts';
import { formatTime } from '../api/format.ts';
import { getField, toBody } from '../api/schema.ts';
import { useOpenProject } from '../app.ts';
import { ActionForm } from '../components/action-form.tsx';
import { SchemaField, SelectField, TextField } from '../components/fields.tsx';
import { type ItemFieldsProps, ItemList, itemsPage } from '../components/items-page.tsx';
import { Outcome } from '../components/notice.tsx';
import { PageSection, titleId } from '../components/page-section.tsx';
import { SchemaFields } from '../components/schema-fields.tsx';
import { moveFocus } from '../route.ts';

const toId = (host: string): string => `host-${host}`;

/** The hosts from which a project may fetch sources. */
export function AllowedHosts() {
  const { api, project, route, session } = useOpenProject();
  const projectId = project.id;
  // A failed image links here with its host.
  const [host, setHost] = useState(route.query['host'] ?? '');
  const [focusId, setFocusId] = useState('');
  const { run, message, failure } = useAction();
  useLayoutEffect(() => {
    if (focusId !== '') moveFocus(focusId);
    setFocusId('');
  }, [focusId]);
  const remove = async (allowed: string) => {
    const isRemoved = await run(async () => {
      session.setProject(await api.removeProjectDomain({ projectId, host: allowed }));
      return `${allowed} removed.`;
    });
    // The button is gone. Focus on the next button would let a double click remove two hosts.
    if (isRemoved) setFocusId(titleId);
  };
  const add = async () => {
    const known = new Set(project.allowedOrigins);
    const changed = await api.addProjectDomain({ projectId, host: host.trim() });
    session.setProject(changed);
    setHost('');
    const added = changed.allowedOrigins.find((pattern) => !known.has(pattern));
    if (added !== undefined) setFocusId(toId(added));
    return `${host.trim()} allowed.`;
  };
  return (
    <PageSection
      title="Allowed hosts"
      intro={
        <>
          Sources may come from these hosts. <code>*.example.com</code> allows all its subdomains.
        </>
      }
    >
      <ItemList
        items={project.allowedOrigins}
        empty="No allowed hosts yet. Add the host of your images below."
        toId={toId}
      >
        {(allowed) => (
          <>
            <code>{allowed}</code>
            <button type="button" class="small" onClick={() => remove(allowed)}>
              Remove<span class="hidden"> {allowed}</span>
            </button>
          </>
        )}
      </ItemList>
      <Outcome message={message} failure={failure} />
      <ActionForm label="Allow a host" submit="Allow" onSubmit={add} class="narrow">
        {(errors) => (
          <TextField
            label="Host to allow"
            value={host}
            onChange={setHost}
            help="A host name without https://. Example: images.example.com"
            required
            error={errors.get('host')}
          />
        )}
      </ActionForm>
    </PageSection>
  );
}

const credentialTypes = [
  ['headers', 'Request headers'],
  ['s3', 'S3 credentials'],
] as const;

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

/** Origins that need headers, or are buckets. */
export const PrivateSources = itemsPage<ProjectOrigin>({
  noun: 'Origin',
  nameField: 'host',
  singular: 'private source',
  title: 'Private sources',
  intro:
    'Credentials for origins that are not public: request headers, or keys that sign requests to a bucket. Secrets are encrypted, and no page shows them again.',
  nameLabel: 'Host',
  nameHelp: 'An allowed host, with its port unless that is 443 or 80. Example: photos.example.com',
  getName: ({ host }) => host,
  describe: ({ headers, location, updatedAt }) => (
    <>
      {location === null ? `headers: ${headers.join(', ')}` : <code>{location}</code>}{' '}
      <span class="quiet">changed {formatTime(updatedAt)}</span>
    </>
  ),
  consequence: () => 'Its sources are fetched without credentials, and will probably fail.',
  saved: 'New fetches use this configuration.',
  form: {
    Fields: OriginFields,
    toValues: (_, origin) => ({
      way: origin !== null && origin.location !== null ? 's3' : 'headers',
    }),
    toBody: (schema, { way, headers = '', ...values }) =>
      way === 's3'
        ? { s3: toBody(getField(schema, 's3'), values) }
        : { headers: parseHeaders(headers) },
  },
});

function OriginFields({ schema, values, onChange, errors }: ItemFieldsProps) {
  const isBucket = values['way'] === 's3';
  return (
    <>
      <SelectField
        label="How its images are fetched"
        help="With request headers, such as a token, or as objects in a bucket."
        value={isBucket ? 's3' : 'headers'}
        onChange={(way) => onChange({ ...values, way })}
        options={credentialTypes}
      />
      {isBucket ? (
        <SchemaFields schema={getField(schema, 's3')} {...{ values, onChange, errors }} />
      ) : (
        <SchemaField
          schema={{ type: 'array' }}
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
