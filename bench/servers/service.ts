import { type Deployment, type DeployOptions, deploy } from '../deployment.ts';
import { encodedSource, type ImageServer } from './server.ts';

/** The service, deployed from this build. */
export interface Service extends ImageServer {
  readonly deployment: Deployment;
}

export async function startService(
  settings: Readonly<Record<string, string>> = {},
  options: DeployOptions = {},
): Promise<Service> {
  const deployment = await deploy(settings, options);
  const { url, pid, project, healthyMs, close } = deployment;
  return {
    name: 'service',
    ...{ deployment, url, pid, healthyMs, close },
    imageUrl: ({ source, width, format, quality }) =>
      `${url}/img/${encodedSource(source)}?project=${project}&w=${width}&fmt=${format}&q=${quality}`,
  };
}
