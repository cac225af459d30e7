import type { DeliveryHost, UrlSecret } from '@image-delivery/sdk/client';
import { formatTime } from '../api/format.ts';
import { itemsPage } from '../components/items-page.tsx';

export const DeliveryHosts = itemsPage<DeliveryHost>({
  noun: 'Host',
  nameField: 'host',
  singular: 'delivery host',
  title: 'Delivery hosts',
  intro:
    "Host names for short image URLs: the URL's path is the source's path below the base. Changing them needs a root key.",
  nameLabel: 'Host',
  nameHelp: 'A host name that resolves to this service, without a port. Example: img.shop.example',
  getName: ({ host }) => host,
  describe: ({ base, urls, updatedAt }) => (
    <>
      {urls} URLs, sources below {base === null ? "the project's origin" : <code>{base}</code>}
      <span class="quiet">, changed {formatTime(updatedAt)}</span>
    </>
  ),
  consequence: () => 'Its URLs stop working.',
  saved: 'Its URLs follow within two seconds.',
});

/** The secrets with which other services sign a project's URLs. */
export const UrlSecrets = itemsPage<UrlSecret>({
  noun: 'UrlSecret',
  nameField: 'kind',
  singular: 'URL secret',
  title: 'URL secrets',
  intro:
    "Another service's secrets, to verify the signatures in its URLs on a delivery host. URLs with a wrong signature return 403, and so do unsigned URLs if the project requires signatures. Changing secrets needs a key for all projects, and no page shows them again.",
  nameLabel: 'Service',
  nameHelp:
    'The service whose URLs a delivery host reads: imgix, cloudinary, imgproxy or thumbor. Example: imgix',
  getName: ({ kind }) => kind,
  describe: ({ secretCount, updatedAt }) => (
    <>
      {secretCount === 2 && 'two valid secrets, '}
      <span class="quiet">changed {formatTime(updatedAt)}</span>
    </>
  ),
  consequence: () =>
    'Its signatures are no longer checked. A project that requires signatures refuses its URLs.',
  saved: 'URLs are checked with it within two seconds.',
});
