import type { DeliveryHost, UrlSecret } from '@image-delivery/sdk/client';
import { formatTime } from '../api/format.ts';
import { type ItemKind, ProjectItems, schemaPart } from '../components/items-page.tsx';
import type { ProjectProps } from '../components/page-section.tsx';

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
  ...schemaPart('DeliveryHostInput'),
};

/** The delivery hosts of a project. */
export const DeliveryHosts = (props: ProjectProps) => <ProjectItems {...props} kind={hosts} />;

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
  ...schemaPart('UrlSecretInput'),
};

/** The secrets that other services sign a project's URLs with. */
export const UrlSecrets = (props: ProjectProps) => <ProjectItems {...props} kind={secrets} />;
