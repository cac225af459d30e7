import { readFile } from 'node:fs/promises';
import { requestCredentials, toCredentials } from './credential-request.ts';
import type { CredentialSource } from './credential-source.ts';
import { readXml } from './xml.ts';

const timeoutMs = 5_000;

/**
 * Exchanges the token in a file that Kubernetes clusters on AWS mount (IRSA) for a role's
 * credentials.
 */
export const webIdentityCredentials: CredentialSource = async (environment, region) => {
  const {
    AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
    AWS_ROLE_ARN: role,
    AWS_ROLE_SESSION_NAME: session = 'image-delivery',
    AWS_REGION: stsRegion = region,
    AWS_ENDPOINT_URL_STS: endpoint = stsEndpoint(stsRegion),
  } = environment;
  if (!tokenFile || !role) return null;
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: (await readFile(tokenFile, 'utf8')).trim(),
  });
  const answer = await requestCredentials(new URL(endpoint), { form, timeoutMs });
  const fields = new Map<string, string>();
  readXml(answer, (path, text) => fields.set(path, text));
  const field = (name: string) =>
    fields.get(
      `AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/Credentials/${name}`,
    );
  return toCredentials(
    field('AccessKeyId'),
    field('SecretAccessKey'),
    field('SessionToken'),
    field('Expiration'),
  );
};

const stsEndpoint = (region: string): string =>
  `https://sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
