import { type Deployment, type DeployOptions, deploy } from '../deployment.ts';
import { encodedSource, type ImageServer, type PlainRequest } from './server.ts';

/** The service, deployed from this build. */
export interface Service extends ImageServer {
  readonly deployment: Deployment;
  /** Without a quality: the project's default. */
  defaultUrl(request: PlainRequest): string;
}

export async function startService(
  settings: Readonly<Record<string, string>> = {},
  options: DeployOptions = {},
): Promise<Service> {
  const deployment = await deploy(settings, options);
  const { url, pid, project, healthyMs, close } = deployment;
  const defaultUrl = ({ source, width, format }: PlainRequest) =>
    `${url}/img/${encodedSource(source)}?project=${project}&w=${width}&fmt=${format}`;
  const imageUrl: Service['imageUrl'] = (request) => `${defaultUrl(request)}&q=${request.quality}`;
  return { name: 'service', deployment, url, pid, healthyMs, close, defaultUrl, imageUrl };
}
