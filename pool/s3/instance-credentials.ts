import { readCredentials, requestCredentials } from './credential-request.ts';
import type { CredentialSource } from './credential-source.ts';

/** Short, because machines outside of EC2 get no response at all. */
const timeoutMs = 1_000;
const tokenSeconds = 21_600;

/** The credentials of an EC2 instance's role, by version 2 of its metadata service (IMDSv2). */
export const instanceCredentials: CredentialSource = async (environment) => {
  const {
    AWS_EC2_METADATA_DISABLED: disabled = '',
    AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: mode = '',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: endpoint,
  } = environment;
  if (disabled.toLowerCase() === 'true') return null;
  const byDefault =
    mode.toLowerCase() === 'ipv6' ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254';
  const url = (path: string) => new URL(path, endpoint || byDefault);
  const token = await requestCredentials(url('/latest/api/token'), {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': String(tokenSeconds) },
    timeoutMs,
  });
  const options = { headers: { 'x-aws-ec2-metadata-token': token.trim() }, timeoutMs };
  const roles = url('/latest/meta-data/iam/security-credentials/');
  const [role = ''] = (await requestCredentials(roles, options)).split('\n');
  const path = `${roles.pathname}${encodeURIComponent(role.trim())}`;
  return readCredentials(await requestCredentials(url(path), options));
};
