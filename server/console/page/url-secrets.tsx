import type { UrlSecret } from '@image-delivery/sdk/client';
import { formatTime } from './format.ts';
import type { ProjectProps } from './page-section.tsx';
import { type ItemKind, ProjectItems } from './project-items.tsx';
import { schemaPart } from './schema-part.tsx';

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
