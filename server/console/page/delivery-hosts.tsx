import type { DeliveryHost } from '@image-delivery/sdk/client';
import { formatTime } from './format.ts';
import type { ProjectProps } from './page-section.tsx';
import { type ItemKind, ProjectItems } from './project-items.tsx';
import { schemaPart } from './schema-part.tsx';

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
