import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { keepProject } from '../api/page-data.ts';
import { useOpenProject } from '../app.ts';
import { UnknownPage } from '../components/page-section.tsx';
import { useWide } from '../components/schema-fields.tsx';
import { linkTo } from '../route.ts';
import { Activity } from './activity.tsx';
import { Defaults } from './defaults.tsx';
import { DeliveryHosts, UrlSecrets } from './delivery-hosts.tsx';
import { Keys } from './keys.tsx';
import { Layers } from './layers.tsx';
import { Overview } from './overview.tsx';
import { Presets } from './presets.tsx';
import { Prewarm } from './prewarm.tsx';
import { Purge } from './purge.tsx';
import { Freshness, Limits, Settings } from './settings.tsx';
import { Signing } from './signing.tsx';
import { AllowedHosts, PrivateSources } from './sources.tsx';
import { Webhooks } from './webhooks.tsx';

type Pages = Readonly<Record<string, readonly [name: string, Page: ComponentType]>>;

/** Project pages by route segment, in groups, in display order. */
const groups: Readonly<Record<string, Pages>> = {
  '': { '': ['Overview', Overview], activity: ['Activity', Activity] },
  Sources: { hosts: ['Allowed hosts', AllowedHosts], sources: ['Private sources', PrivateSources] },
  Images: {
    defaults: ['Defaults', Defaults],
    presets: ['Presets', Presets],
    layers: ['Layers', Layers],
  },
  Delivery: {
    'delivery-hosts': ['Delivery hosts', DeliveryHosts],
    freshness: ['Freshness', Freshness],
    prewarm: ['Prewarm', Prewarm],
    purge: ['Purge', Purge],
  },
  Access: {
    keys: ['Keys', Keys],
    signing: ['Signing', Signing],
    'url-secrets': ['URL secrets', UrlSecrets],
  },
  Project: {
    limits: ['Limits', Limits],
    webhooks: ['Webhooks', Webhooks],
    settings: ['Settings', Settings],
  },
};
const pages: Pages = Object.assign({}, ...Object.values(groups));

/** @param segment the route segment after the project, or '' */
export function ProjectPage({ segment }: { readonly segment: string }) {
  const { id, name } = useOpenProject().project;
  const [title, Page] = (Object.hasOwn(pages, segment) && pages[segment]) || ['Pages', undefined];
  const wide = useWide();
  // The playground opens with this project.
  useEffect(() => keepProject(id), [id]);
  return (
    <div class="project">
      <nav aria-label="Project">
        <a href={linkTo('/projects')}>All projects</a>
        <details open={wide}>
          <summary>
            {name} <span class="quiet">{title}</span>
          </summary>
          {Object.entries(groups).map(([group, members]) => (
            <section key={group}>
              {group !== '' && <p class="quiet">{group}</p>}
              <ul>
                {Object.entries(members).map(([path, [page]]) => (
                  <li key={path}>
                    <a
                      href={linkTo(`/projects/${id}${path && `/${path}`}`)}
                      aria-current={path === segment ? 'page' : undefined}
                    >
                      {page}
                    </a>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </details>
      </nav>
      <div>
        {Page === undefined ? (
          <UnknownPage back={`/projects/${id}`} to={`the overview of ${name}`} />
        ) : (
          <Page />
        )}
      </div>
    </div>
  );
}
