import { readFile } from 'node:fs/promises';
import { parseAddress, parseNetwork, within } from '../../contract/networks.ts';
import {
  type CredentialRequest,
  readCredentials,
  requestCredentials,
} from './credential-request.ts';
import type { CredentialSource } from './credential-source.ts';

const ecsOrigin = 'http://169.254.170.2';
/**
 * Loopback, and the addresses of ECS and EKS. Requests to them do not leave the machine, so http is
 * safe.
 */
const localNetworks = ['127.0.0.0/8', '::1', '169.254.170.2', '169.254.170.23', 'fd00:ec2::23']
  .map(parseNetwork)
  .filter((network) => network !== null);
const timeoutMs = 2_000;

/** The credentials of an ECS task, an EKS pod (Pod Identity) or a Greengrass component. */
export const containerCredentials: CredentialSource = async (environment) => {
  const {
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: relative,
    AWS_CONTAINER_CREDENTIALS_FULL_URI: full,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: token,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: tokenFile,
  } = environment;
  if (!relative && !full) return null;
  const url = relative ? new URL(ecsOrigin + relative) : new URL(String(full));
  if (!isTrusted(url)) {
    throw new Error('AWS_CONTAINER_CREDENTIALS_FULL_URI is http to an address that is not local');
  }
  const authorization = tokenFile ? (await readFile(tokenFile, 'utf8')).trim() : token;
  const headers: CredentialRequest['headers'] = authorization ? { authorization } : {};
  return readCredentials(await requestCredentials(url, { headers, timeoutMs }));
};

function isTrusted({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  const address = parseAddress(hostname.replace(/^\[(.*)\]$/, '$1'));
  return protocol === 'http:' && address !== null && within(address, localNetworks);
}
