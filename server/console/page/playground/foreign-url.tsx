import type { DeliveryHost, OperationInput, Project } from '@image-delivery/sdk/client';
import { useEffect, useState } from 'preact/hooks';
import { useData } from '../api/action.ts';
import { imageHeaders, useSignPath } from '../api/image.ts';
import { imagePath, type ParameterTexts } from '../api/image-url.ts';
import type { ApiDescription } from '../api/openapi.ts';
import { type Api, fetchJson } from '../api/service.ts';
import { useApp } from '../app.ts';
import { SelectField, TextField } from '../components/fields.tsx';
import type { Sides } from './area.ts';

type Hosts = readonly DeliveryHost[];

/** Returns a project's delivery hosts, or an empty list while loading and if the key cannot read them. */
export function useDeliveryHosts(api: Api | null, project: Project | null): Hosts {
  const id = project?.id;
  const load = async () =>
    api === null || id === undefined ? [] : api.listProjectHosts({ projectId: id });
  return useData(load, [api, id]).value ?? [];
}

/** Returns whether a text is a URL on one of the hosts. */
export const isOnHost = (text: string, hosts: Hosts): boolean =>
  URL.canParse(text) && hosts.some(({ host }) => host === new URL(text).hostname);

interface ForeignUrlProps {
  readonly api: Api;
  readonly project: Project;
  readonly url: string;
  readonly onUrl: (url: string) => void;
  readonly onRead: (source: string, options: ParameterTexts) => void;
}

/** The facts about a source that need the fewest pixels. */
const sizeOptions = { fmt: 'json', w: '1' };

/** A URL of another service or a delivery host, which fills the controls with its meaning. */
export function ForeignUrl({ api, project, url, onUrl, onRead }: ForeignUrlProps) {
  const { description } = useApp();
  const kinds = kindsIn(description);
  const [urls, setUrls] = useState('');
  const [isOpen, setOpen] = useState(false);
  const sign = useSignPath(project);
  const read = async () => {
    if (url === '') return null;
    const input = {
      projectId: project.id,
      url,
      ...(urls === '' ? {} : { urls }),
    } as OperationInput<'getProjectUrlMeaning'>;
    const meaning = await api.getProjectUrlMeaning(input);
    if (meaning.native !== null) return meaning;
    const path = imagePath({ source: meaning.source, project: project.id, options: sizeOptions });
    const signed = sign === null ? path : await sign(path);
    const facts = await fetchJson(signed, undefined, imageHeaders);
    const { width, height } = (facts as { readonly source: Sides }).source;
    return api.getProjectUrlMeaning({ ...input, width, height });
  };
  const { value: meaning, failure } = useData(read, [url, urls, project.id]);
  useEffect(() => {
    if (meaning === null) return;
    const options = meaning.options.map(({ name, value }) => [name, value]);
    onRead(meaning.source, Object.fromEntries(options));
  }, [meaning]);
  const { code = '', message = '', hint = '' } = failure ?? {};
  const error = code === 'invalid_request' ? message.replace(/^url: /, '') : `${message} ${hint}`;
  const ignored = meaning?.ignored ?? [];
  return (
    <details
      class="foreign"
      open={isOpen || failure !== null}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>URL of another service</summary>
      <SelectField
        label="Service"
        value={urls}
        onChange={setUrls}
        options={['', ...kinds].map((kind) => [kind, kind || 'as its URL looks'] as const)}
      />
      <TextField
        label="Its image URL"
        type="url"
        value={url}
        onChange={(text) => onUrl(text.trim())}
        error={error.trim()}
        help={
          ignored.length === 0
            ? 'Fills in the source image URL and the controls with the same image at this service.'
            : `Ignored: ${ignored.join(', ')}`
        }
      />
    </details>
  );
}

/** The services that delivery hosts can read URLs of. */
function kindsIn({ getBody }: ApiDescription): readonly string[] {
  const { urls } = getBody('putProjectHost').properties ?? {};
  return (urls?.enum ?? []).map(String).filter((kind) => kind !== 'native');
}
