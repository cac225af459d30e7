import type { DeliveryHost, Project } from '@image-delivery/sdk/client';
import { useEffect, useState } from 'preact/hooks';
import type { Api } from './service.ts';

type Hosts = readonly DeliveryHost[];

/** Returns a project's delivery hosts, or an empty list while loading and if the key cannot read them. */
export function useDeliveryHosts(api: Api | null, project: Project | null): Hosts {
  const [hosts, setHosts] = useState<Hosts>([]);
  const id = project?.id;
  useEffect(() => {
    let isCurrent = true;
    setHosts([]);
    if (api === null || id === undefined) return;
    const show = (found: Hosts) => isCurrent && setHosts(found);
    api('GET', `/projects/${id}/hosts`).then(
      (body) => show(body.hosts),
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [api, id]);
  return hosts;
}

/** Returns whether a text is a URL on one of the hosts. */
export const isOnHost = (text: string, hosts: Hosts): boolean =>
  URL.canParse(text) && hosts.some(({ host }) => host === new URL(text).hostname);
