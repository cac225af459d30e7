import type { ComponentType } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { keepProject } from '../api/last-picture.ts';
import { documentPage } from '../components/document-page.tsx';
import { type ProjectProps, UnknownPage } from '../components/page-section.tsx';
import { linkTo } from '../route.ts';
import { ActivityPage } from './activity.tsx';
import { Allowlist } from './allowlist.tsx';
import { Defaults } from './defaults.tsx';
import { DeliveryHosts, UrlSecrets } from './delivery-hosts.tsx';
import { Keys } from './keys.tsx';
import { Layers } from './layers.tsx';
import { Origins } from './origins.tsx';
import { Overview } from './overview.tsx';
import { Presets } from './presets.tsx';
import { Prewarm } from './prewarm.tsx';
import { Purge } from './purge.tsx';
import { Settings } from './settings.tsx';
import { Signing } from './signing.tsx';
import { Webhooks } from './webhooks.tsx';

/** Project pages by route segment, in display order. */
const pages: Readonly<
  Record<string, { readonly name: string; readonly Page: ComponentType<ProjectProps> }>
> = {
  '': { name: 'Overview', Page: Overview },
  activity: { name: 'Activity', Page: ActivityPage },
  hosts: { name: 'Allowed hosts', Page: Allowlist },
  sources: { name: 'Private sources', Page: Origins },
  'delivery-hosts': { name: 'Delivery hosts', Page: DeliveryHosts },
  defaults: { name: 'Defaults', Page: Defaults },
  presets: { name: 'Presets', Page: Presets },
  layers: { name: 'Layers', Page: Layers },
  prewarm: { name: 'Prewarm', Page: Prewarm },
  purge: { name: 'Purge', Page: Purge },
  freshness: { name: 'Freshness', Page: documentPage('freshness') },
  limits: { name: 'Limits', Page: documentPage('limits') },
  keys: { name: 'Keys', Page: Keys },
  signing: { name: 'Signing', Page: Signing },
  'url-secrets': { name: 'URL secrets', Page: UrlSecrets },
  webhooks: { name: 'Webhooks', Page: Webhooks },
  settings: { name: 'Settings', Page: Settings },
};

interface ProjectPageProps extends ProjectProps {
  /** The route segment after the project, or ''. */
  readonly segment: string;
}

export function ProjectPage({ segment, ...props }: ProjectPageProps) {
  const { id, name } = props.project;
  const page = Object.hasOwn(pages, segment) ? pages[segment] : undefined;
  // The playground opens with this project.
  useEffect(() => keepProject(id), [id]);
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const link = list.current?.querySelector('[aria-current]');
    // On a phone the list is a scrolling row.
    link?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [segment]);
  return (
    <div class="project">
      <nav aria-label="Project">
        <a href={linkTo('/projects')}>All projects</a>
        <p>
          <strong>{name}</strong>
        </p>
        <ul ref={list}>
          {Object.entries(pages).map(([path, { name }]) => (
            <li key={path}>
              <a
                href={linkTo(`/projects/${id}${path && `/${path}`}`)}
                aria-current={path === segment ? 'page' : undefined}
              >
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <div>
        {page === undefined ? (
          <UnknownPage back={`/projects/${id}`} to={`the overview of ${name}`} />
        ) : (
          <page.Page {...props} />
        )}
      </div>
    </div>
  );
}
