export interface EncryptionKey {
  /** Stored unencrypted next to each text that the key encrypts. */
  readonly id: string;
  /** 32 bytes in Base64. */
  readonly secret: string;
}

/** Parses `id:secret`; null for other texts. */
export function parseEncryptionKey(text: string): EncryptionKey | null {
  const [, id = '', secret = ''] = /^([a-z\d_-]{1,32}):([A-Za-z\d+/]{43}=)$/.exec(text) ?? [];
  const bytes = Buffer.from(secret, 'base64');
  return bytes.length === 32 && bytes.toString('base64') === secret ? { id, secret } : null;
}
