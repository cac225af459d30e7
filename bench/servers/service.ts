import { type DeployOptions, deploy, type ServiceDeployment } from '../deployment.ts';
import { encodedSource, type ImageServer, type PlainRequest } from './server.ts';

/** The service, deployed from this build. */
export interface DeployedService extends ImageServer {
  readonly deployment: ServiceDeployment;
  /** Without a quality: the project's default. */
  defaultUrl(request: PlainRequest): string;
}

export async function deployService(
  settings: Readonly<Record<string, string>> = {},
  options: DeployOptions = {},
): Promise<DeployedService> {
  const deployment = await deploy(settings, options);
  const { url, pid, project, healthyMs, close } = deployment;
  const defaultUrl = ({ source, width, format }: PlainRequest) =>
    `${url}/img/${encodedSource(source)}?project=${project}&w=${width}&fmt=${format}`;
  const imageUrl: DeployedService['imageUrl'] = (request) =>
    `${defaultUrl(request)}&q=${request.quality}`;
  return { name: 'service', deployment, url, pid, healthyMs, close, defaultUrl, imageUrl };
}
