import { createHash, randomBytes, randomInt } from 'node:crypto';

const base36 = '0123456789abcdefghijklmnopqrstuvwxyz';

function random36(length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += base36[randomInt(36)];
  return text;
}

/** `prj_` and 16 base-36 characters. */
export const newProjectId = (): string => `prj_${random36(16)}`;
export const projectIdPattern = /^prj_[0-9a-z]{16}$/;
export const isProjectId = (text: string): boolean => projectIdPattern.test(text);
/** `org_` and 16 base-36 characters. */
export const newOrganisationId = (): string => `org_${random36(16)}`;
export const organisationIdPattern = /^org_[0-9a-z]{16}$/;
/** `pre_` and 16 base-36 characters. */
export const newPrewarmId = (): string => `pre_${random36(16)}`;
export const prewarmIdPattern = /^pre_[0-9a-z]{16}$/;
/** `key_` and 16 base-36 characters: identifies an API key without disclosing it. */
export const newKeyId = (): string => `key_${random36(16)}`;
export const keyIdPattern = /^key_[0-9a-z]{16}$/;
/** `sk_` and 43 base64url characters: 256 random bits. */
export const newApiKey = (): string => `sk_${randomBytes(32).toString('base64url')}`;
/** 256 random bits, base64url: the secret that signs a project's URLs. */
export const newSigningSecret = (): string => randomBytes(32).toString('base64url');

/** The stored form of an API key. Without salt and stretching, because the key has 256 random bits. */
export const hashApiKey = (key: string): string => createHash('sha256').update(key).digest('hex');
